/** Generated programs that are started in a folder with hostile files. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { executable } from "../support/claudikins.ts";
import { claudikinsCommand } from "../support/command.ts";
import { type GeneratedProject, generatedProject } from "../support/daemon.ts";
import { type HostileFolder, hostileFolder } from "../support/hostile-folder.ts";
import { strippingNode } from "../support/node.ts";
import { runProgram, shellLine } from "../support/process.ts";

setDefaultTimeout(120_000);

let project: GeneratedProject;
let hostile: HostileFolder;
beforeAll(async () => {
  project = await generatedProject();
  hostile = hostileFolder();
});
afterAll(async () => {
  hostile[Symbol.dispose]();
  await project[Symbol.asyncDispose]();
});

const runtimes = [
  ["bun", () => process.execPath],
  ...(strippingNode ? [["node", () => strippingNode]] : []),
  ["claudikins", executable],
] as [string, () => string][];

/** A folder that contains only this runtime. */
function binOf(name: string, runtime: () => string): string {
  const bin = join(project.path, `only-${name}`);
  if (existsSync(bin)) return bin;
  mkdirSync(bin);
  symlinkSync(runtime(), join(bin, name));
  return bin;
}

describe.skipIf(process.platform === "win32").each(runtimes)(
  "a program that starts itself with %s",
  (name, runtime) => {
    const start = (PATH: string) =>
      runProgram([project.file("wait"), '{"ms": 1}'], { cwd: hostile.cwd, env: { ...project.env, PATH } });

    test("runs nothing of its working directory, and takes no variable from its .env", async () => {
      const { exitCode, stdout, stderr } = await start(binOf(name, runtime));
      expect({ exitCode, stdout, stderr, marks: hostile.marks() }).toEqual({
        exitCode: 0,
        stdout: '"waited"\n',
        stderr: "",
        marks: [],
      });
    });

    test.each(["", ".", "bin", "../cwd"])("takes no runtime from a PATH that begins with %j", async (entry) => {
      const { stdout } = await start(`${entry}:${binOf(name, runtime)}`);
      expect(hostile.marks()).toEqual([]);
      // The first runtime found belongs to the folder; there are no others.
      expect(["", '"waited"\n']).toContain(stdout);
    });
  },
);

test.skipIf(process.platform === "win32")("without any runtime, a program says what to install", async () => {
  const env = { ...project.env, PATH: join(project.path, "nothing") };
  expect(await runProgram([project.file("wait")], { cwd: hostile.cwd, env })).toEqual({
    exitCode: 127,
    stdout: "",
    stderr: expect.stringContaining("install Bun, Node.js 22.18 or claudikins"),
  });
});

describe.skipIf(process.platform === "win32")("a Node without TypeScript support", () => {
  // Older versions of Node are too large for devDependencies (90 MB each). This program reports their version and fails like them.
  const old = (version: string) => `case "$*" in
  --version) echo ${version} ;;
  "--experimental-strip-types --disable-warning=ExperimentalWarning "*) echo '"with the flag"' ;;
  *) echo "TypeError [ERR_UNKNOWN_FILE_EXTENSION]: Unknown file extension .ts" >&2; exit 1 ;;
esac`;
  // As if claudikins contained Bun.
  const claudikins = `case "$1" in --config=*) exec ${shellLine([process.execPath])} "$@" ;; *) exec ${shellLine(claudikinsCommand)} "$@" ;; esac`;
  const withNode = (version: string, programs: Record<string, string> = {}) => {
    const bin = `node-${version}-${Object.keys(programs).length}`;
    for (const [name, script] of Object.entries({ node: old(version), ...programs })) {
      chmodSync(project.write(`${bin}/${name}`, `#!/bin/sh\n${script}\n`), 0o755);
    }
    const env = { ...project.env, PATH: join(project.path, bin) };
    return runProgram([project.file("wait"), '{"ms": 1}'], { cwd: project.path, env });
  };

  test.each(["v16.20.2", "v18.20.8", "v20.19.0", "v21.7.3", "v22.5.1"])("is skipped: %s", async (version) => {
    expect(await withNode(version, { claudikins })).toMatchObject({
      exitCode: 0,
      stdout: '"waited"\n',
    });
    const { exitCode, stdout, stderr } = await withNode(version);
    expect({ exitCode, stdout }).toEqual({ exitCode: 127, stdout: "" });
    expect(stderr).toMatch(/^To run \S+, install Bun, Node\.js 22\.18 or claudikins, .*node is too old\.\n$/);
  });

  test.each(["v22.6.0", "v22.12.0", "v22.17.1", "v23.5.0"])("is started with its flag: %s", async (version) => {
    expect(await withNode(version)).toEqual({ exitCode: 0, stdout: '"with the flag"\n', stderr: "" });
  });

  test.each(["v22.18.0", "v22.20.0", "v23.6.0", "v24.0.0"])("does not include %s", async (version) => {
    expect(await withNode(version)).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("ERR_UNKNOWN") });
  });
});

describe("under a Bun that has read the folder's .env", () => {
  // Code that Bun itself runs before the file is not ours.
  beforeAll(() => {
    for (const folder of [hostile.path, join(hostile.path, "parent"), hostile.cwd]) {
      for (const name of readdirSync(folder)) if (/bunfig|config\.json/.test(name)) rmSync(join(folder, name));
    }
  });
  const run = (env: Record<string, string> = {}) =>
    runProgram([process.execPath, project.file("seen")], {
      cwd: hostile.cwd,
      env: { ...project.env, ...env },
    });

  test("no program or folder of the .env is used, and the daemon gets none of its variables", async () => {
    const kept = ([name]: [string, string]) => !["XDG_RUNTIME_DIR", "XDG_CONFIG_HOME"].includes(name);
    const env = Object.fromEntries(Object.entries(project.env).filter(kept));
    const { exitCode, stdout, stderr } = await runProgram([process.execPath, project.file("seen")], {
      cwd: hostile.cwd,
      env,
    });
    expect({ exitCode, stderr, marks: hostile.marks() }).toEqual({ exitCode: 0, stderr: "", marks: [] });
    expect(JSON.parse(stdout)).toMatchObject({ token: "none" });
    await runProgram([...claudikinsCommand, "daemon", "stop", "--all", "--now"], { cwd: project.path, env });
    expect(readdirSync(join(hostile.cwd, "evil-home"))).toEqual(["claudikins"]);
    expect(readdirSync(join(hostile.cwd, "evil-home", "claudikins"))).toEqual(["claudikins.json"]);
  });

  test("a variable for a server comes from the user, not from the .env", async () => {
    hostile.write("parent/cwd/.env", "SEEN_TOKEN=evil\nexport CLAUDIKINS_EXECUTABLE = './sh'\n");
    expect(JSON.parse((await run()).stdout)).toMatchObject({ token: "none" });
    if (process.platform === "linux") {
      expect(JSON.parse((await run({ SEEN_TOKEN: "mine" })).stdout)).toMatchObject({ token: "mine" });
    }
    expect(hostile.marks()).toEqual([]);
  });
});

test("a CLAUDIKINS_EXECUTABLE with a relative path is not started", async () => {
  const env = { ...project.env, CLAUDIKINS_EXECUTABLE: "./claudikins", SEEN_TOKEN: "relative" };
  const { exitCode, stderr } = await runProgram([process.execPath, project.file("seen")], { cwd: project.path, env });
  expect({ exitCode, ...JSON.parse(stderr) }).toEqual({
    exitCode: 2,
    error: "CLAUDIKINS_EXECUTABLE is a relative path: ./claudikins",
    code: "FILE_NOT_FOUND",
    suggestion:
      "Set it to the absolute path of claudikins: with a relative path, the current folder could supply another program.",
  });
});
