/** Real boxes that may write to a project: what runs or counts outside of boxes later stays as it is. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { copyFileSync, existsSync, linkSync, mkdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Box } from "../../../src/config/box.ts";
import { Pool } from "../../../src/servers/pool.ts";
import { confinedServer } from "../../../src/setup/settings/add-server.ts";
import { findInCatalog } from "../../../src/tools/server-catalog.ts";
import { root } from "../../support/claudikins.ts";
import {
  failureOf,
  failureText,
  plainValue,
  type ServerEntry,
  serverConfig,
  surroundings,
} from "../../support/pool.ts";
import { withoutSandbox } from "../../support/sandbox.ts";
import { diskFolder, type TemporaryFolder, temporaryFolder } from "../../support/temporary.ts";

// Processes start slowly on a small machine.
setDefaultTimeout(60_000);

let folder: TemporaryFolder;
let variables: Record<string, string>;
beforeEach(() => {
  folder = temporaryFolder(diskFolder);
  for (const name of ["home", "project/source"]) mkdirSync(join(folder.path, name), { recursive: true });
  folder.write("program/package.json", {});
  copyFileSync(join(root, "test", "fixtures", "servers", "intruder.ts"), join(folder.path, "program", "intruder.ts"));
  const scene = surroundings(folder.path);
  // Without what the runner of the tests adds.
  const path = `${dirname(Bun.which("bun") ?? "")}:/usr/local/bin:/usr/bin:/bin`;
  variables = { ...(scene.env as Record<string, string>), HOME: at("home"), PATH: path };
});
afterEach(() => folder[Symbol.dispose]());

const at = (...names: string[]) => join(folder.path, ...names);
const project = (...names: string[]) => at("project", ...names);

/** Opens a server that may write to the project, as the catalog's do, with a config file of the project. */
function open(box: Partial<Box> = { write: ["."] }, more: Partial<ServerEntry> = {}, config?: string) {
  const opened = { read: [], write: [], network: false, ...box };
  const entry = { command: "bun", args: [at("program", "intruder.ts")], cwd: project(), box: opened, ...more };
  const server = serverConfig("entry", entry as ServerEntry);
  const definitions = config === undefined ? {} : { definitions: { mode: "ask", config } as never };
  const pool = new Pool(new Map([["entry", { ...server, ...definitions }]]), {
    ...surroundings(folder.path),
    env: variables,
  });
  const attempt = async (tool: string, args: Record<string, string>) =>
    String(plainValue(await pool.callTool("entry", tool, args, {})));
  const refusal = async () => failureText(await failureOf(pool.listTools("entry", {})), folder.path);
  return {
    attempt,
    refusal,
    shell: (line: string) => attempt("shell", { line }),
    [Symbol.asyncDispose]: () => pool.close(),
  };
}

type Opened = ReturnType<typeof open>;

/** Every way to change a file, also by its folder and by another name. */
async function expectUnchanged(opened: Opened, path: string): Promise<void> {
  const before = readFileSync(path, "utf8");
  const around = dirname(path);
  const inside = around === project() ? undefined : around;
  for (const line of [
    `echo planted >> ${path}`,
    `rm -f ${path}`,
    `mv ${path} ${path}-moved`,
    `echo planted > ${project("new")}; mv -f ${project("new")} ${path}`,
    `ln ${path} ${project("linked")} && echo planted > ${project("linked")}`,
    `chmod 777 ${path}`,
    ...(inside ? [`mv ${inside} ${inside}-moved`, `rm -rf ${inside}`] : []),
  ]) {
    expect([line, await opened.shell(line)]).toEqual([line, expect.stringMatching(/^refused: /)]);
    expect(readFileSync(path, "utf8")).toBe(before);
  }
}

const git = (...words: string[]) => {
  const { exitCode, stdout, stderr } = Bun.spawnSync(["git", ...words], {
    cwd: project(),
    env: { PATH: "/usr/bin:/bin", HOME: at("home"), GIT_CONFIG_NOSYSTEM: "1" },
  });
  if (exitCode !== 0) throw new Error(`${stderr}`);
  return `${stdout}`.trim();
};

function makeRepository(): void {
  git("init", "--initial-branch=main");
  git("config", "user.name", "me");
  git("config", "user.email", "me@example.com");
  folder.write("project/source/a.txt", "one");
  git("add", ".");
  git("commit", "--message=first");
}

describe.skipIf(withoutSandbox !== undefined)("a server that may write to a project cannot change", () => {
  test.each([
    ...["claudikins.json", "claudikins.lock", ".claudikins/registry/index.ts", ".mcp.json", ".claude/settings.json"],
    ...[".cursor/mcp.json", ".codex/config.toml", ".vscode/tasks.json", ".gemini/settings.json", ".envrc"],
    ...[".github/mcp.json", ".agents/mcp_config.json", ".qwen/settings.json", "crush.json"],
    ...[".husky/pre-commit", ".githooks/pre-commit", "opencode.json"],
  ])("%s", async (name) => {
    const path = folder.write(`project/${name}`, "as it was");
    await using opened = open();
    expect(await opened.shell(`echo mine > ${project("source/own")} && mkdir ${project("more")}`)).toBe("got: done");
    await expectUnchanged(opened, path);
  });

  test("the config in use, whatever its name, in a folder further down", async () => {
    const path = folder.write("project/apps/shop/own-name.json", "{}");
    const other = folder.write("project/apps/shop/.mcp.json", "{}");
    await using opened = open({ write: ["."] }, {}, path);
    for (const each of [path, other]) await expectUnchanged(opened, each);
    expect(await opened.shell(`mv ${project("apps")} ${project("moved")}`)).toStartWith("refused: ");
    expect(await opened.shell(`echo mine > ${project("apps/shop/new")}`)).toBe("got: done");
  });

  test("the settings of its working directory", async () => {
    const path = folder.write("project/source/.claude/settings.json", "{}");
    await using opened = open({ write: [".."] }, { cwd: project("source") });
    await expectUnchanged(opened, path);
  });

  test.each(["hooks/pre-commit", "config", "config.worktree", "modules/a/config", "worktrees/a/commondir"])(
    ".git/%s",
    async (name) => {
      makeRepository();
      if (name !== "config") folder.write(`project/.git/${name}`, "as it was");
      await using opened = open({ write: [".", ".git"] });
      await expectUnchanged(opened, project(".git", name));
    },
  );

  test("anything of the repository, if its list does not name it", async () => {
    makeRepository();
    await using opened = open();
    for (const name of ["HEAD", "config", "refs/heads/main"]) await expectUnchanged(opened, project(".git", name));
    for (const name of ["commondir", "hooks/pre-commit", "config.worktree"]) {
      expect(await opened.shell(`echo ../source > ${project(".git", name)}`)).toStartWith("refused: ");
    }
  });

  test("the hooks of a repository that has none", async () => {
    makeRepository();
    rmSync(project(".git/hooks"), { recursive: true });
    await using opened = open({ write: [".", ".git"] });
    for (const line of [
      `mkdir -p ${project(".git/hooks")}; echo planted > ${project(".git/hooks/pre-commit")}`,
      `rmdir ${project(".git/hooks")}`,
      `mv ${project(".git")} ${project("moved")}`,
    ]) {
      expect(await opened.shell(line)).toStartWith("refused: ");
    }
  });

  test("the settings of a repository whose folder alone is opened", async () => {
    makeRepository();
    await using opened = open({ write: [".git"] });
    await expectUnchanged(opened, project(".git/config"));
    expect(await opened.shell(`echo > ${project(".git/hooks/pre-commit")}`)).toStartWith("refused: ");
  });

  test("the file that names the repository of a working tree", async () => {
    const path = folder.write("project/.git", "gitdir: /elsewhere");
    await using opened = open();
    await expectUnchanged(opened, path);
  });

  test("programs in a folder of the PATH, and those that are linked from there", async () => {
    const tool = folder.write("project/tools/bin/tool", "#!/bin/sh\n");
    const script = folder.write("project/node_modules/tool/index.js", "//");
    folder.write("project/node_modules/.bin/other", "#!/bin/sh\n");
    symlinkSync("../tool/index.js", project("node_modules/.bin/tool"));
    variables["PATH"] = `${project("node_modules/.bin")}:${project("tools/bin")}:${variables["PATH"]}`;
    await using opened = open();
    for (const path of [tool, script]) await expectUnchanged(opened, path);
    expect(await opened.shell(`echo > ${project("node_modules/.bin/bwrap")}`)).toStartWith("refused: ");
    expect(await opened.shell(`mv ${project("tools")} ${project("moved")}`)).toStartWith("refused: ");
  });

  test("a folder of the PATH that does not exist, as npx names one", async () => {
    variables["PATH"] = `${project("node_modules/.bin")}:${project("deep/bin/")}:${variables["PATH"]}`;
    await using opened = open();
    for (const name of ["node_modules/.bin", "deep/bin"]) {
      const line = `mkdir -p ${project(name)}; echo planted > ${project(name, "bwrap")}`;
      expect(await opened.shell(line)).toStartWith("refused: ");
      expect(existsSync(project(name, "bwrap"))).toBe(false);
    }
    expect(await opened.shell(`mv ${project("deep")} ${project("moved")}`)).toStartWith("refused: ");
    expect(await opened.shell(`echo mine > ${project("deep/own")}`)).toBe("got: done");
  });

  test("an environment of programs that variables name, with folders of the PATH in it", async () => {
    const tool = folder.write("project/.venv/deep/bin/tool", "#!/bin/sh\n");
    const module = folder.write("project/.venv/deep/module.py", "");
    variables["VIRTUAL_ENV"] = project(".venv");
    variables["PATH"] = `${project(".venv/deep/bin")}:${variables["PATH"]}`;
    await using opened = open();
    for (const path of [tool, module]) await expectUnchanged(opened, path);
  });
});

describe.skipIf(withoutSandbox !== undefined)("a folder to write to is refused", () => {
  test.each(["claudikins.json", ".claude", ".mcp.json", ".git/hooks", ".git/config", ".claudikins/registry"])(
    "if it is what counts outside of boxes: %s",
    async (name) => {
      makeRepository();
      if (!name.startsWith(".git/")) folder.write(`project/${name}`, "{}");
      expect(existsSync(project(name))).toBe(true);
      await using opened = open({ write: [name] });
      expect(await opened.refusal()).toContain(`MARK/project/${name} counts outside of sandboxes`);
    },
  );

  test("if a folder of the PATH in it is missing and cannot be made", async () => {
    folder.write("project/tools", "a file");
    variables["PATH"] = `${project("tools/bin")}:${variables["PATH"]}`;
    await using opened = open();
    expect(await opened.refusal()).toContain("MARK/project/tools/bin does not exist and cannot be made");
  });

  test("if it is the file that names a repository", async () => {
    folder.write("project/.git", "gitdir: /elsewhere");
    await using opened = open({ write: [".", ".git"] });
    expect(await opened.refusal()).toContain("MARK/project/.git counts outside of sandboxes");
  });

  test("if it is the config in use by another name", async () => {
    const config = folder.write("project/own-name.json", "{}");
    linkSync(config, project("source/harmless"));
    await using opened = open({ write: ["source/harmless"] }, {}, config);
    expect(await opened.refusal()).toContain("MARK/project/source/harmless counts outside of sandboxes");
  });

  test.each([".git", ".git/hooks", "claudikins.json", ".claude", "node_modules"])(
    "if a link in it could be replaced: %s",
    async (name) => {
      makeRepository();
      variables["PATH"] = `${project("node_modules/.bin")}:${variables["PATH"]}`;
      mkdirSync(at("elsewhere"));
      rmSync(project(name), { recursive: true, force: true });
      symlinkSync(name.endsWith(".json") ? project("missing") : at("elsewhere"), project(name));
      await using opened = open({ write: name === ".git/hooks" ? [".", ".git"] : ["."] });
      expect(await opened.refusal()).toContain(`has a link on the way to MARK/project/${name}`);
    },
  );
});

describe.skipIf(withoutSandbox !== undefined)("a server that may write to a repository", () => {
  test("has the sandbox of the catalog, beside a server for the files", async () => {
    const { server } = await findInCatalog("git");
    const entry = server && confinedServer(server).server;
    const text = JSON.stringify(entry && "sandbox" in entry ? entry.sandbox : undefined);
    const { write } = JSON.parse(text.replaceAll("${GIT_REPOSITORY:-.}", "."));
    makeRepository();
    await using files = open();
    expect(await files.shell(`echo mine > ${project("source/own")}`)).toBe("got: done");
    await using repository = open({ write });
    expect(await repository.shell(`cd ${project()} && git add . && git commit -m second`)).toBe("got: done");
    expect(await files.shell(`echo > ${project(".git/index")}`)).toStartWith("refused: ");
    expect(git("log", "--format=%s")).toBe("second\nfirst");
  });

  test("has no repository that another server has put there as a link", async () => {
    folder.write("elsewhere/HEAD", "");
    await using files = open();
    expect(await files.shell(`ln -s ${at("elsewhere")} ${project(".git")}`)).toBe("got: done");
    await using repository = open({ write: [".", ".git"] });
    expect(await repository.refusal()).toStartWith("CONFIG_INVALID");
  });

  test("can commit, branch, switch and tag", async () => {
    makeRepository();
    await using opened = open({ write: [".", ".git"] }, { env: { GIT_CONFIG_NOSYSTEM: "1" } });
    const line = [
      `cd ${project()}`,
      "echo two > source/b.txt",
      "git add .",
      "git commit -m second",
      "git branch other",
      "git checkout -b third",
      "git rm -q source/b.txt",
      "git commit -m third",
      "git stash list",
      "git tag v1",
      "git reset --hard main",
      "git gc -q",
    ].join(" && ");
    expect(await opened.shell(line)).toBe("got: done");
    expect(git("log", "--format=%s", "v1")).toBe("third\nsecond\nfirst");
    expect(git("branch", "--format=%(refname:short)").split("\n")).toEqual(["main", "other", "third"]);
  });

  test("leaves no file in a project for places that do not exist", async () => {
    await using opened = open();
    expect(await opened.attempt("list", { path: project() })).toBe("got: source");
  });
});
