/** `setup`: its steps, a second run, and what it does not do. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { hookTexts } from "../../src/tools/registry/hook-texts.ts";
import { eventually } from "../support/eventually.ts";
import { processesWith } from "../support/process.ts";
import { fixture } from "../support/servers.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";
import { type CliOptions, cli } from "./in-memory.ts";

setDefaultTimeout(60_000);

let folder: TemporaryFolder;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => {
  expect(processesWith(folder.path)).toEqual([]);
  folder[Symbol.dispose]();
});

const at = (...path: string[]) => join(folder.path, ...path);
const run = (argv: string[], options: CliOptions = {}) => cli(argv, { cwd: folder.path, ...options });
const skill = () => at(".claude/skills/claudikins/SKILL.md");

interface Report {
  ok: boolean;
  steps: { step: string; result: string; server?: string; path?: string; problem?: { code: string } }[];
  findings: { id: string; state: string; repair?: string }[];
}

async function setup(...flags: string[]): Promise<Report & { exitCode: number }> {
  const { exitCode, stdout, stderr } = await run(["setup", "--json", ...flags]);
  expect(stderr).toBe("");
  return { exitCode, ...JSON.parse(stdout.replaceAll(folder.path, "FOLDER")) };
}

const short = ({ steps }: Report) => steps.map(({ step, server, path, result }) => [step, server ?? path, result]);

function configure(): void {
  folder.write("claudikins.json", {
    mcpServers: { odd: fixture("odd", folder.path), crashes: fixture("crash-on-start", folder.path) },
  });
}

test("setup does what is missing, once, and continues after a server fails", async () => {
  configure();
  const first = await setup();
  expect([first.ok, first.exitCode, ...short(first)]).toEqual([
    false,
    4,
    ["folder", "FOLDER/.claudikins/registry", "done"],
    ["folder", "FOLDER/.claudikins/workspace", "done"],
    ["tools", "odd", "done"],
    ["tools", "crashes", "failed"],
  ]);
  expect(first.steps[3]?.problem?.code).toBe("SERVER_UNAVAILABLE");
  expect(first.findings.find(({ id }) => id === "server.crashes")?.state).toBe("problem");
  expect(existsSync(at(".claudikins/registry/index.json"))).toBe(true);
  // The skill was not asked for.
  expect(existsSync(skill())).toBe(false);

  folder.write("claudikins.json", { mcpServers: { odd: fixture("odd", folder.path) } });
  const { mtimeMs } = statSync(at(".claudikins/registry/index.json"));
  const second = await setup();
  expect([second.ok, second.exitCode, ...short(second)]).toEqual([
    true,
    0,
    ["folder", "FOLDER/.claudikins/registry", "unchanged"],
    ["folder", "FOLDER/.claudikins/workspace", "unchanged"],
  ]);
  expect(statSync(at(".claudikins/registry/index.json")).mtimeMs).toBe(mtimeMs);
  expect((await run(["setup"])).stdout).toStartWith("Nothing to do.\n");
});

test("missing files are written again, and programs are made executable again", async () => {
  folder.write("claudikins.json", { mcpServers: { odd: fixture("odd", folder.path) } });
  await setup();
  const program = at(".claudikins/registry/other/odd/example.ts");
  rmSync(at(".claudikins/registry/_runtime/bridge-code.js"));
  chmodSync(program, 0o640);
  const { findings } = JSON.parse((await run(["doctor", "--no-servers", "--json"])).stdout) as Report;
  expect(findings.find(({ id }) => id === "registry.executable")).toMatchObject({
    state: "warning",
    message: "Generated programs are not executable: other/odd/example.ts",
    repair: "claudikins gen",
  });
  const again = await setup();
  expect(short(again).slice(2)).toEqual([["executable", "FOLDER/.claudikins/registry/other/odd/example.ts", "done"]]);
  expect(statSync(program).mode & 0o777).toBe(0o750);
  expect(existsSync(at(".claudikins/registry/_runtime/bridge-code.js"))).toBe(true);
  expect(again.findings.filter(({ id, state }) => id.startsWith("registry.") && state !== "ok")).toEqual([]);
  rmSync(program);
  expect(short(await setup()).slice(2)).toEqual([["tools", "odd", "done"]]);
  expect(existsSync(program)).toBe(true);
});

test("a dry run lists the steps and does nothing", async () => {
  configure();
  expect(short(await setup("--dry-run", "--skill"))).toEqual([
    ["folder", "FOLDER/.claudikins/registry", "to do"],
    ["folder", "FOLDER/.claudikins/workspace", "to do"],
    ["tools", "odd", "to do"],
    ["tools", "crashes", "to do"],
    ["skill", "FOLDER/.claude/skills/claudikins/SKILL.md", "to do"],
  ]);
  expect([existsSync(at(".claudikins")), existsSync(at(".claude")), existsSync(at(".local"))]).toEqual([
    false,
    false,
    false,
  ]);
  expect((await run(["setup", "--dry-run"])).stdout).toStartWith(
    `Would create the registry folder: ${at(".claudikins/registry")}\n`,
  );
});

test("--no-servers starts no server", async () => {
  configure();
  const { exitCode, ...report } = await setup("--no-servers");
  expect([exitCode, short(report).map(([step]) => step)]).toEqual([0, ["folder", "folder"]]);
});

test("without a config, setup lists the tools of the demo", async () => {
  const { exitCode, ...report } = await setup();
  expect([exitCode, short(report).slice(2)]).toEqual([0, [["tools", "demo", "done"]]]);
  expect(report.findings.find(({ id }) => id === "config.file")?.state).toBe("ok");
});

test("with an unreadable config, setup reports the problem and does nothing", async () => {
  folder.write("claudikins.json", "{");
  const { exitCode, steps } = await setup("--yes");
  expect([exitCode, steps, existsSync(skill())]).toEqual([2, [], false]);
});

test("a folder that cannot be created stops only the steps that need it", async () => {
  folder.write("taken", "a file");
  const odd = { odd: fixture("odd", folder.path) };
  folder.write("claudikins.json", { mcpServers: odd, workspace: "taken/workspace" });
  const workspace = await setup();
  expect([workspace.exitCode, ...short(workspace)]).toEqual([
    2,
    ["folder", "FOLDER/.claudikins/registry", "done"],
    ["folder", "FOLDER/taken/workspace", "failed"],
    ["tools", "odd", "done"],
  ]);
  folder.write("claudikins.json", { mcpServers: odd, registry: "taken/registry" });
  const registry = await run(["setup"]);
  expect([registry.exitCode, registry.stdout]).toEqual([
    2,
    expect.stringContaining(`Cannot create the folder ${at("taken/registry")}: `),
  ]);
  expect(registry.stdout).not.toContain("Wrote");
});

describe("the skill", () => {
  beforeEach(() => folder.write("claudikins.json", { mcpServers: {} }));
  const write = (flags: string[], options: CliOptions = {}) => run(["setup", ...flags], options);

  test("is written for the given agents", async () => {
    mkdirSync(at(".codex"));
    expect((await write(["--skill"])).stdout).toContain(
      `Wrote the skill: ${at(".agents/skills/claudikins/SKILL.md")}\n`,
    );
    expect(readFileSync(at(".agents/skills/claudikins/SKILL.md"), "utf8")).toBe(hookTexts.skill);
    expect(existsSync(skill())).toBe(false);
    expect((await write(["--yes"])).stdout).toStartWith("Nothing to do.\n");
  });

  test("is asked about once at a terminal", async () => {
    const no = await write([], { terminal: true, answers: ["n"] });
    expect(no.stderr).toContain("Write a skill that tells Claude Code how to use claudikins? [y/N] ");
    expect([existsSync(skill()), no.stderr.includes("claudikins skill install")]).toEqual([false, true]);
    expect((await write([], { terminal: true, answers: ["y"] })).exitCode).toBe(0);
    expect(readFileSync(skill(), "utf8")).toBe(hookTexts.skill);
    expect((await write([], { terminal: true, answers: [] })).stderr).not.toContain("[y/N]");
  });

  test("is not written over another author's skill", async () => {
    folder.write(".claude/skills/claudikins/SKILL.md", "# Mine\n");
    const { exitCode, stdout } = await write(["--skill"]);
    expect([exitCode, stdout]).toEqual([2, expect.stringContaining("Could not write the skill: ")]);
    expect(readFileSync(skill(), "utf8")).toBe("# Mine\n");
  });
});

test("an interruption leaves only complete files", async () => {
  folder.write("claudikins.json", {
    mcpServers: { slow: { ...fixture("never-starts", folder.path), startTimeoutMs: 2_000 } },
  });
  const interrupted = new AbortController();
  const answer = run(["setup", "--json"], { interrupted: interrupted.signal });
  await eventually(() => processesWith(folder.path).length > 0);
  interrupted.abort();
  const { exitCode, stdout, stderr } = await answer;
  expect([exitCode, stdout, JSON.parse(stderr).error.code]).toEqual([130, "", "CANCELLED"]);
});
