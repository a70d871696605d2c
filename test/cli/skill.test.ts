/** `skill install`, `skill remove` and `skill status`: where agents look for skills, and which files are left alone. */
import { beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { hookTexts, memoryBody } from "../../src/tools/registry/hook-texts.ts";
import { markedSkill, section } from "../../src/tools/registry/installed-texts.ts";
import { ownFolder } from "../support/own-folder.ts";
import { type CliOptions, cli, page } from "./in-memory.ts";

const folder = ownFolder();
beforeEach(() => {
  mkdirSync(at("project/.git"), { recursive: true });
});

const at = (...path: string[]) => join(folder.path, ...path);
const read = (path: string) => readFileSync(at(path), "utf8");
/** Runs in a project below the home. */
const run = (argv: string[], options: CliOptions = {}) =>
  cli(argv, { cwd: at("project"), env: { HOME: folder.path }, ...options });
const install = (...flags: string[]) => run(["skill", "install", ...flags]);
const remove = (...flags: string[]) => run(["skill", "remove", ...flags]);

/** Every file with its contents. */
function everything(below = ""): Record<string, string> {
  return Object.assign(
    {},
    ...readdirSync(at(below), { withFileTypes: true }).map((entry) => {
      const path = join(below, entry.name);
      return entry.isDirectory() ? { [`${path}/`]: "", ...everything(path) } : { [path]: read(path) };
    }),
  );
}

describe("install", () => {
  test("writes the skill for Claude Code by default, and remove deletes it", async () => {
    const before = everything();
    expect(page(["skill", "install"], await install(), folder.path)).toMatchInlineSnapshot(`
      "$ claudikins skill install
      --- stdout
      Wrote FOLDER/.claude/skills/claudikins/SKILL.md (claude-code)
      --- exit code 0
      "
    `);
    expect(read(".claude/skills/claudikins/SKILL.md")).toBe(hookTexts.skill);
    expect(await install()).toMatchObject({
      exitCode: 0,
      stdout: `Unchanged: ${at(".claude/skills/claudikins/SKILL.md")} (claude-code)\n`,
    });
    expect(page(["skill", "remove"], await remove(), folder.path)).toMatchInlineSnapshot(`
      "$ claudikins skill remove
      --- stdout
      Removed FOLDER/.claude/skills/claudikins/SKILL.md (claude-code)
      --- exit code 0
      "
    `);
    expect(everything()).toEqual(before);
    expect(await remove()).toEqual({ exitCode: 0, stdout: "", stderr: "The skill is not installed.\n" });
  });

  test("writes the skill for the agents in use; some share a folder", async () => {
    for (const path of [".codex", ".cursor", ".config/opencode", ".gemini"]) mkdirSync(at(path), { recursive: true });
    folder.write(".claude.json", {});
    const { stdout } = await install("--json");
    expect(JSON.parse(stdout)).toEqual({
      files: [
        {
          kind: "skill",
          path: at(".claude/skills/claudikins/SKILL.md"),
          hosts: ["claude-code"],
          result: "written",
        },
        {
          kind: "skill",
          path: at(".agents/skills/claudikins/SKILL.md"),
          hosts: ["cursor", "codex", "gemini", "opencode"],
          result: "written",
        },
      ],
    });
    expect(read(".agents/skills/claudikins/SKILL.md")).toBe(hookTexts.skill);
  });

  test("writes one file if the folders of two agents are the same", async () => {
    mkdirSync(at(".agents/skills"), { recursive: true });
    mkdirSync(at(".claude"));
    symlinkSync(at(".agents/skills"), at(".claude/skills"));
    const { stdout } = await install("--host", "claude", "--host", "codex", "--json");
    expect(JSON.parse(stdout).files).toMatchObject([{ hosts: ["claude-code", "codex"], result: "written" }]);
  });

  test("writes to the top of the project with --project, even from a subfolder", async () => {
    mkdirSync(at("project/src/deep"), { recursive: true });
    await run(["skill", "install", "--project", "--host", "claude", "--host", "gemini", "--claude-md"], {
      cwd: at("project/src/deep"),
    });
    expect(read("project/.claude/skills/claudikins/SKILL.md")).toBe(hookTexts.skill);
    expect(read("project/.agents/skills/claudikins/SKILL.md")).toBe(hookTexts.skill);
    expect(read("project/CLAUDE.md")).toBe(`${section(memoryBody, "new")}\n`);
    expect(read("project/GEMINI.md")).toBe(`${section(memoryBody, "new")}\n`);
    const { exitCode } = await remove("--project");
    expect([exitCode, readdirSync(at("project")).sort()]).toEqual([0, [".git", "src"]]);
  });

  test("writes to the folders that variables name", async () => {
    const env = { HOME: folder.path, CLAUDE_CONFIG_DIR: at("claude"), CODEX_HOME: at("codex") };
    await run(["skill", "install", "--host", "claude", "--host", "codex", "--claude-md"], { env });
    for (const path of ["claude/skills/claudikins/SKILL.md", "claude/CLAUDE.md", "codex/AGENTS.md"]) {
      expect([path, existsSync(at(path))]).toEqual([path, true]);
    }
  });

  test("shows the changes and writes nothing with --dry-run", async () => {
    const before = everything();
    const argv = ["skill", "install", "--claude-md", "--dry-run"];
    const { exitCode, stdout } = await run(argv);
    expect([exitCode, everything()]).toEqual([0, before]);
    expect(stdout).toContain(`+++ ${at(".claude/skills/claudikins/SKILL.md")}\n@@ -0,0 +1,`);
    expect(stdout).toContain("+## MCP tools\n");
    expect(JSON.parse((await run([...argv, "--json"])).stdout).files[0].diff).toContain("+name: claudikins\n");
  });
});

describe("a section of CLAUDE.md", () => {
  test("does not change other bytes of the file, or its mode", async () => {
    const others = "\uFEFF# Mine\r\n\r\n$& and $1 stay\r\nno end of line";
    const file = folder.write("project/CLAUDE.md", others);
    const { mode } = statSync(file);
    await install("--project", "--host", "claude", "--claude-md");
    expect(read("project/CLAUDE.md")).toStartWith(others);
    expect(read("project/CLAUDE.md")).toContain("\r\n## MCP tools\r\n");
    expect((await install("--project", "--host", "claude", "--claude-md")).stdout).toContain("Unchanged: ");
    await remove("--project");
    expect([read("project/CLAUDE.md"), statSync(file).mode]).toEqual([others, mode]);
  });

  test("replaces the section of an earlier version", async () => {
    folder.write("project/CLAUDE.md", `# Mine\n\n${section("## Old\n")}\n\n# Below\n`);
    const { stdout } = await install("--project", "--host", "claude", "--claude-md");
    expect(stdout).toContain(`Replaced the claudikins section in ${at("project/CLAUDE.md")} (claude-code)\n`);
    expect(read("project/CLAUDE.md")).toBe(`# Mine\n\n${section(memoryBody)}\n\n# Below\n`);
  });

  test("is written once if AGENTS.md is a link to CLAUDE.md, and the link stays", async () => {
    folder.write("project/CLAUDE.md", "# Mine\n");
    symlinkSync("CLAUDE.md", at("project/AGENTS.md"));
    await install("--project", "--host", "claude", "--host", "codex", "--claude-md");
    expect(read("project/AGENTS.md").match(/claudikins begin/g)?.length).toBe(1);
    await remove("--project");
    expect([read("project/CLAUDE.md"), read("project/AGENTS.md")]).toEqual(["# Mine\n", "# Mine\n"]);
  });

  test("a section that lacks its end mark is left alone, but the skill is written", async () => {
    const text = `# Mine\n${section(memoryBody).replace("<!-- claudikins end -->", "")}`;
    folder.write("project/CLAUDE.md", text);
    const { exitCode, stdout, stderr } = await install("--project", "--host", "claude", "--claude-md");
    expect([exitCode, stdout]).toEqual([
      2,
      `Wrote ${at("project/.claude/skills/claudikins/SKILL.md")} (claude-code)\n`,
    ]);
    expect(stderr).toStartWith(`error: ${at("project/CLAUDE.md")} does not have both marks of a claudikins section\n`);
    expect(read("project/CLAUDE.md")).toBe(text);
  });
});

describe("an existing skill called claudikins", () => {
  const path = ".claude/skills/claudikins/SKILL.md";

  test("another author's skill is neither replaced nor removed", async () => {
    folder.write(path, "# Mine\n");
    const { exitCode, stdout, stderr } = await install();
    expect([exitCode, stdout, stderr]).toEqual([
      2,
      "",
      `error: ${at(path)} was not written by claudikins, so it is left unchanged\n\nhint: Move it away, or overwrite it with --force, which keeps no copy.\n`,
    ]);
    expect((await remove("--force")).exitCode).toBe(0);
    expect(read(path)).toBe("# Mine\n");
    expect((await install("--force")).exitCode).toBe(0);
    expect(read(path)).toBe(hookTexts.skill);
  });

  test("is kept if somebody changed it, and replaced if it is from an earlier version", async () => {
    folder.write(path, `${hookTexts.skill}more\n`);
    const failed = await run(["skill", "install", "--json"]);
    expect([failed.exitCode, failed.stdout, JSON.parse(failed.stderr)]).toEqual([
      2,
      "",
      {
        error: {
          code: "FILE_NOT_WRITABLE",
          message: `${at(path)} has been changed since claudikins wrote it, so it is left unchanged`,
          hint: expect.any(String),
        },
        files: [{ kind: "skill", path: at(path), hosts: ["claude-code"], result: "failed", error: expect.any(String) }],
      },
    ]);
    expect((await remove()).exitCode).toBe(2);
    expect(read(path)).toBe(`${hookTexts.skill}more\n`);
    folder.write(path, markedSkill("---\nname: claudikins\n---\n\nOlder\n"));
    expect((await install()).stdout).toStartWith("Replaced ");
    expect(read(path)).toBe(hookTexts.skill);
  });
});

test("skill status lists where the skill is installed", async () => {
  expect(await run(["skill", "status"])).toEqual({
    exitCode: 0,
    stdout: "",
    stderr: "No agent has the skill. To install it: claudikins skill install\n",
  });
  await install("--host", "claude", "--claude-md");
  folder.write("project/.agents/skills/claudikins/SKILL.md", markedSkill("---\nname: claudikins\n---\n"));
  folder.write("project/.claude/skills/claudikins/SKILL.md", "# Mine");
  folder.write("project/CLAUDE.md", section("## Old\n"));
  folder.write("project/GEMINI.md", "<!-- claudikins begin 0 -->");
  const { stdout } = await run(["skill", "status", "--json"]);
  const files = (JSON.parse(stdout).files as Record<string, string>[]).filter(({ state }) => state !== "absent");
  expect(files.map(({ kind, scope, path, state }) => [kind, scope, path?.replace(folder.path, ""), state])).toEqual([
    ["skill", "user", "/.claude/skills/claudikins/SKILL.md", "current"],
    ["section", "user", "/.claude/CLAUDE.md", "current"],
    ["skill", "project", "/project/.claude/skills/claudikins/SKILL.md", "not ours"],
    ["skill", "project", "/project/.agents/skills/claudikins/SKILL.md", "older"],
    ["section", "project", "/project/CLAUDE.md", "older"],
    ["section", "project", "/project/GEMINI.md", "changed"],
  ]);
  expect((await run(["skill", "status"])).stdout).toMatch(
    /^what +scope +state +agents +file\nskill +user +current +claude-code /,
  );
});

test.each([
  [["--user", "--project"], "Use --user or --project, not both"],
  [["--host", "nobody"], 'Unknown agent "nobody"'],
  [["--host", "claude-desktop"], "Claude Desktop does not read skills from a folder"],
  [["--host", "cursor", "--claude-md"], "Cursor has no file for instructions that apply to all projects"],
])("%j is refused, and nothing is changed", async (flags, message) => {
  const before = everything();
  const { exitCode, stdout, stderr } = await install(...flags);
  expect([exitCode, stdout, stderr.split("\n")[0]]).toEqual([2, "", `error: ${message}`]);
  expect(everything()).toEqual(before);
});
