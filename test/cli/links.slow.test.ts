/** Symbolic links in a repository, at the places of claudikins' files: none is followed, and the error names the next step. */
import { beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { ClaudikinsError } from "../../src/base/errors.ts";
import { readIfThere, removeFile, writeWhenChanged } from "../../src/base/files.ts";
import { guardFolder } from "../../src/base/guarded-folders.ts";
import { openHost } from "../support/host.ts";
import { ownFolder } from "../support/own-folder.ts";
import { fixture } from "../support/servers.ts";
import { type CliOptions, cli } from "./in-memory.ts";

setDefaultTimeout(60_000);

const folder = ownFolder();
beforeEach(() => {
  folder.write("victim/id_rsa", "s3cret");
  folder.write("victim/outputs/.bashrc", "s3cret");
  folder.write("victim/skills/evil.ts", "/** s3cret */\nexport function s3cret() {}\n");
  folder.write("victim/registry/index.json", '{"version":1,"servers":[]}');
  folder.write("project/claudikins.json", { mcpServers: { odd: fixture("odd"), seen: fixture("seen") } });
  folder.write("home/.keep", "");
});

const at = (...path: string[]) => join(folder.path, ...path);
const inside = (...path: string[]) => at("project", ".claudikins", ...path);
const run = (argv: string[], options: CliOptions = {}) =>
  cli(argv, { cwd: at("project"), ...options, env: { HOME: at("home"), ...options.env } });
const code = (text: string) => run(["exec", "--json", "-e", text]);

/** Makes a link and its parent folders. */
function link(path: string, target: string): void {
  mkdirSync(dirname(path), { recursive: true });
  rmSync(path, { recursive: true, force: true });
  symlinkSync(target, path);
}

/** Everything in the victim's folder: kinds, rights, times and contents. */
function victim(): string[] {
  return (readdirSync(at("victim"), { recursive: true }) as string[]).sort().map((name) => {
    const path = at("victim", name);
    const found = lstatSync(path);
    const content = found.isFile() ? readFileSync(path, "utf8") : found.isSymbolicLink() ? readlinkSync(path) : "";
    return [name, found.mode, found.mtimeMs, content].join(" ");
  });
}

/** Runs work, and checks that it did not change or print anything of the victim. */
async function harmless<T>(work: () => Promise<T>): Promise<T> {
  const before = victim();
  const result = await work();
  expect(victim()).toEqual(before);
  expect(JSON.stringify(result ?? "")).not.toContain("s3cret");
  return result;
}

const roots: [string, () => void][] = [
  ["the workspace", () => link(inside("workspace"), at("victim"))],
  ["the workspace, by a relative link", () => link(inside("workspace"), "../../victim")],
  ["the parent folder of the workspace", () => link(inside(), at("victim"))],
  [
    "the parent folder of a configured workspace",
    () => {
      folder.write("project/claudikins.json", { workspace: "some/where" });
      link(at("project", "some"), at("victim"));
      mkdirSync(at("victim", "where"));
    },
  ],
  [
    "a configured workspace",
    () => {
      folder.write("project/claudikins.json", { workspace: "here" });
      link(at("project", "here"), at("victim"));
    },
  ],
  [
    "a workspace configured by an absolute path",
    () => {
      folder.write("project/claudikins.json", { workspace: at("project", "here") });
      link(at("project", "here"), at("victim"));
    },
  ],
];

describe.each(roots)("if %s is a link", (_, prepare) => {
  test.each([
    ["reads", "return fs.readFile('./workspace/id_rsa', 'utf8')"],
    ["lists", "return fs.readdir('./workspace', { recursive: true })"],
    ["writes", "return fs.writeFile('./workspace/new.txt', 'x')"],
    ["adds to", "return fs.appendFile('./workspace/id_rsa', 'x')"],
    ["removes", "return fs.rm('./workspace/outputs', { recursive: true })"],
    ["renames", "return fs.rename('./workspace/id_rsa', './workspace/x')"],
    ["makes folders in", "return fs.mkdir('./workspace/a/b', { recursive: true })"],
    ["imports from", "return import('./skills/evil')"],
  ])("code %s nothing behind it, and gets an error about the link", async (_, text) => {
    prepare();
    const { exitCode, stderr } = await harmless(() => code(text));
    expect({ exitCode, stderr }).toMatchObject({ exitCode: expect.any(Number), stderr: expect.stringMatching(/link/) });
    expect(exitCode).not.toBe(0);
  });

  test("search offers no skill behind it", async () => {
    prepare();
    await harmless(() => run(["search", "evil"]));
    await harmless(() => code("return tools.list()"));
  });

  test("doctor names the link and the next step", async () => {
    prepare();
    const { stdout } = await harmless(() => run(["doctor", "--json", "--no-servers"]));
    const { findings } = JSON.parse(stdout) as { findings: { id: string }[] };
    expect(findings.find(({ id }) => id === "folder.workspace")).toMatchObject({
      state: "problem",
      message: expect.stringContaining("is a symbolic link"),
      repair: expect.stringMatching(/^rm /),
    });
  });

  test("setup creates nothing behind it", async () => {
    prepare();
    await harmless(() => run(["setup", "--json", "--no-servers"]));
  });
});

test.each([
  ["the workspace", () => link(inside("workspace"), at("victim"))],
  ["the outputs folder", () => link(inside("workspace", "outputs"), at("victim", "outputs"))],
  ["the outputs folder, to a missing target", () => link(inside("workspace", "outputs"), at("victim", "new"))],
])("a result that is too long for the agent is not written if %s is a link", async (_, prepare) => {
  folder.write("project/claudikins.json", {});
  prepare();
  const env = { HOME: at("home"), XDG_DATA_HOME: at("data") };
  await harmless(async () => {
    await using host = await openHost({ path: at("project") }, { env });
    const { content } = await host.call("execute_code", { code: "return 'x'.repeat(100_000)" });
    expect(JSON.stringify(content)).toContain("could not be saved");
  });
});

const registries: [string, () => void][] = [
  ["the registry", () => link(inside("registry"), at("victim", "registry"))],
  ["a registry that leads nowhere yet", () => link(inside("registry"), at("victim", "new"))],
  ["the folder above it", () => link(inside(), at("victim"))],
  ["a category's folder", () => link(inside("registry", "other"), at("victim"))],
  ["a server's folder", () => link(inside("registry", "other", "odd"), at("victim"))],
  ["the folder of what all files share", () => link(inside("registry", "_runtime"), at("victim"))],
  ["the index", () => link(inside("registry", "index.json"), at("victim", "id_rsa"))],
  ["an index that leads nowhere yet", () => link(inside("registry", "index.json"), at("victim", "new.json"))],
  ["a tool's file", () => link(inside("registry", "other", "odd", "index.ts"), at("victim", "id_rsa"))],
  [
    "a tool's file that leads nowhere yet",
    () => link(inside("registry", "other", "odd", "index.ts"), at("victim", "n")),
  ],
  ["the README", () => link(inside("registry", "README.md"), at("victim", "id_rsa"))],
  ["the package.json", () => link(inside("registry", "package.json"), at("victim", "new.json"))],
];

test.each(registries)("gen writes nothing if %s is a link, and names it", async (_, prepare) => {
  prepare();
  const { exitCode, stdout, stderr } = await harmless(() => run(["gen", "--json"]));
  expect(exitCode).not.toBe(0);
  expect(stdout + stderr).toContain("is a symbolic link");
});

test.each(registries)("search, setup and exec change nothing if %s is a link", async (_, prepare) => {
  prepare();
  await harmless(() => run(["search", "environment"]));
  await harmless(() => run(["setup", "--json"]));
  await harmless(() => code("return odd.environment().then(Object.keys)"));
  await harmless(() => code("return fs.readdir('./registry', { recursive: true })"));
});

test("code cannot read a registry behind a link", async () => {
  link(inside("registry"), at("victim"));
  const { exitCode, stderr } = await harmless(() => code("return fs.readFile('./registry/id_rsa', 'utf8')"));
  expect({ exitCode, stderr }).toMatchObject({ stderr: expect.stringContaining("is a symbolic link") });
  expect(exitCode).not.toBe(0);
});

test.each(["observed.json", ".observed.lock", "search.json", ".gitignore"])(
  "observed types and the search index are not written through a link at %s",
  async (name) => {
    mkdirSync(at("project", ".git"));
    expect((await run(["gen"])).exitCode).toBe(0);
    for (const target of ["id_rsa", "new"]) {
      link(inside("registry", name), at("victim", target));
      await harmless(() => code("return seen.structured()"));
      await harmless(() => run(["gen", "--json"]));
    }
  },
);

test("a generated program behind a link is not made executable, and its time does not change", async () => {
  expect((await run(["gen"])).exitCode).toBe(0);
  const file = readdirSync(inside("registry", "other", "odd")).find((name) => name === "environment.ts") ?? "";
  const path = inside("registry", "other", "odd", file);
  writeFileSync(at("victim", file), readFileSync(path), { mode: 0o644 });
  link(path, at("victim", file));
  link(inside("registry", "other", "odd", "index.ts"), at("victim", "id_rsa"));
  await harmless(() => run(["setup", "--json"]));
  await harmless(() => run(["list", "--json"]));
});

test.skipIf(process.platform === "win32").each(["index.json", "other/odd/index.ts", "observed.json", "package.json"])(
  "a pipe at %s of the registry blocks no command",
  async (name) => {
    expect((await run(["gen"])).exitCode).toBe(0);
    rmSync(inside("registry", name), { force: true });
    expect(Bun.spawnSync(["mkfifo", inside("registry", name)]).exitCode).toBe(0);
    for (const argv of [
      ["search", "environment"],
      ["gen", "--json"],
      ["doctor", "--json", "--no-servers"],
    ])
      await run(argv);
  },
);

test("a link with the name of a temporary file is not written through", async () => {
  mkdirSync(inside("registry", "other", "odd"), { recursive: true });
  for (let count = 0; count < 60; count++) {
    for (const name of ["index.json", "other/odd/index.ts", "other/odd/environment.ts", "package.json", "README.md"]) {
      link(inside("registry", `${name}.${process.pid}.${count}.tmp`), at("victim", "id_rsa"));
    }
  }
  await harmless(() => run(["gen", "--json"]));
});

describe("links of the user are followed", () => {
  test("above the project", async () => {
    link(at("way"), at("project"));
    const cwd = at("way");
    const { exitCode } = await run(["exec", "-e", "return fs.writeFile('./workspace/a', 'x')"], { cwd });
    expect(exitCode).toBe(0);
    expect((await run(["gen"], { cwd })).exitCode).toBe(0);
    expect(readFileSync(inside("workspace", "a"), "utf8")).toBe("x");
    expect(readdirSync(inside("registry"))).toContain("index.json");
  });

  test("at a workspace and a registry that the config names outside the project", async () => {
    mkdirSync(at("disk", "ws"), { recursive: true });
    mkdirSync(at("disk", "reg"));
    link(at("my-ws"), at("disk", "ws"));
    link(at("my-reg"), at("disk", "reg"));
    const mcpServers = { odd: fixture("odd") };
    folder.write("project/claudikins.json", { mcpServers, workspace: "../my-ws", registry: at("my-reg") });
    expect((await run(["exec", "-e", "return fs.writeFile('./workspace/a', 'x')"])).exitCode).toBe(0);
    expect((await run(["gen"])).exitCode).toBe(0);
    expect(readdirSync(at("disk", "ws"))).toEqual(["a"]);
    expect(readdirSync(at("disk", "reg"))).toContain("index.json");
  });

  test("above the data folder", async () => {
    mkdirSync(at("disk"));
    link(at("home", ".local"), at("disk"));
    mkdirSync(at("elsewhere"));
    const { exitCode } = await run(["exec", "-e", "return fs.writeFile('./workspace/a', 'x')"], {
      cwd: at("elsewhere"),
    });
    expect(exitCode).toBe(0);
    expect(readdirSync(at("disk", "share", "claudikins"))).toContain("demo");
  });
});

test("a folder that is replaced by a link while claudikins runs is no longer followed", async () => {
  folder.write("project/claudikins.json", {});
  const env = { HOME: at("home"), XDG_DATA_HOME: at("data") };
  await using host = await openHost({ path: at("project") }, { env });
  const write = () => host.call("execute_code", { code: "return fs.writeFile('./workspace/a.txt', 'x')" });
  const long = () => host.call("execute_code", { code: "return 'x'.repeat(100_000)" });
  expect(JSON.stringify(await write())).not.toContain("EACCES");
  renameSync(inside(), at("project", "before"));
  link(inside(), at("victim"));
  await harmless(async () => {
    expect(JSON.stringify(await write())).toContain("EACCES");
    expect(JSON.stringify(await long())).toContain("could not be saved");
  });
});

describe("skill install --project", () => {
  const install = (...more: string[]) =>
    run(["skill", "install", "--project", "--host", "claude-code", "--json", "--claude-md", ...more]);

  test.each([
    [".claude", () => link(at("project", ".claude"), at("victim"))],
    [".claude/skills", () => link(at("project", ".claude", "skills"), "../../victim/skills")],
    ["the skill's folder", () => link(at("project", ".claude", "skills", "claudikins"), at("victim"))],
    [
      "the skill itself",
      () => link(at("project", ".claude", "skills", "claudikins", "SKILL.md"), at("victim", "id_rsa")),
    ],
    ["CLAUDE.md", () => link(at("project", "CLAUDE.md"), at("victim", "id_rsa"))],
  ])("writes nothing outside the project if %s is a link", async (_, prepare) => {
    prepare();
    const { exitCode, stdout, stderr } = await harmless(() => install());
    expect(exitCode).not.toBe(0);
    expect(stdout + stderr).toContain("leads out of the project through a link");
    await harmless(() => install("--force"));
    await harmless(() => run(["skill", "remove", "--project", "--host", "claude-code", "--json", "--force"]));
  });

  test("writes through a link that stays in the project", async () => {
    folder.write("project/AGENTS.md", "mine\n");
    link(at("project", "CLAUDE.md"), "AGENTS.md");
    expect((await install()).exitCode).toBe(0);
    expect(readFileSync(at("project", "AGENTS.md"), "utf8")).toStartWith("mine\n");
    expect(readlinkSync(at("project", "CLAUDE.md"))).toBe("AGENTS.md");
  });
});

test.each([".mcp.json", ".cursor/mcp.json", ".vscode/mcp.json"])(
  "init --project changes no settings outside the project if %s is a link to them",
  async (name) => {
    const file = folder.write("victim/settings.json", { mcpServers: { theirs: { command: "s3cret" } }, servers: {} });
    link(at("project", ...name.split("/")), file);
    mkdirSync(at("project", ".git"), { recursive: true });
    await harmless(() => run(["init", "--project", "--apply", "--json", "--no-start"]));
    await harmless(() => run(["init", "--project", "--apply", "--json"]));
  },
);

test("writes never follow a parent folder that is swapped for a link again and again", async () => {
  const swapper = Bun.spawn(
    [
      "sh",
      "-c",
      `while :; do mv .claudikins .held && ln -s ../victim .claudikins; rm -f .claudikins; mv .held .claudikins; done`,
    ],
    { cwd: at("project"), stdio: ["ignore", "ignore", "ignore"] },
  );
  const registry = inside("registry");
  guardFolder(registry, at("project"));
  mkdirSync(inside(), { recursive: true });
  try {
    await harmless(async () => {
      for (let count = 0; count < 400; count++) {
        const path = join(registry, `${count % 7}`, "file.txt");
        for (const change of [
          () => writeWhenChanged(path, `${count}`),
          () => readIfThere(path),
          () => removeFile(path),
        ]) {
          try {
            change();
          } catch (error) {
            expect(error).toBeInstanceOf(ClaudikinsError);
          }
        }
        if (count % 20 === 0) await Bun.sleep(1);
      }
    });
  } finally {
    swapper.kill();
    await swapper.exited;
  }
});
