/** Generated programs that are started in a folder that somebody hostile has prepared. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { executable, fromSource } from "../support/claudikins.ts";
import { type GeneratedProject, generatedProject } from "../support/daemon.ts";
import { type HostileFolder, hostileFolder } from "../support/hostile-folder.ts";
import { strippingNode } from "../support/node.ts";
import { runProgram } from "../support/process.ts";

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

/** A folder with that runtime and no other. */
function binOf(name: string, runtime: () => string): string {
  const bin = join(project.path, `only-${name}`);
  if (existsSync(bin)) return bin;
  mkdirSync(bin);
  symlinkSync(runtime(), join(bin, name));
  return bin;
}

describe.skipIf(process.platform === "win32").each(runtimes)(
  "started by itself, a program under %s",
  (name, runtime) => {
    const start = (PATH: string) =>
      runProgram([project.file("wait"), '{"ms": 1}'], { cwd: hostile.cwd, env: { ...project.env, PATH } });

    test("runs nothing of the folder that it is started in, and takes no variable from its .env", async () => {
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
      // Where the first one found is that of the folder, the others are tried, of which there are none.
      expect(["", '"waited"\n']).toContain(stdout);
    });
  },
);

test.skipIf(process.platform === "win32")("a machine without any runtime is told what to install", async () => {
  const env = { ...project.env, PATH: join(project.path, "nothing") };
  expect(await runProgram([project.file("wait")], { cwd: hostile.cwd, env })).toEqual({
    exitCode: 127,
    stdout: "",
    stderr: expect.stringContaining("install Bun, Node.js 22.18 or claudikins"),
  });
});

describe("under a Bun that has read the .env of the folder", () => {
  // What Bun runs of its own accord before the file is Bun's.
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

  test("no program that it names is started, no folder that it names is used, and the daemon gets none of it", async () => {
    const kept = ([name]: [string, string]) => !["XDG_RUNTIME_DIR", "XDG_CONFIG_HOME"].includes(name);
    const env = Object.fromEntries(Object.entries(project.env).filter(kept));
    const { exitCode, stdout, stderr } = await runProgram([process.execPath, project.file("seen")], {
      cwd: hostile.cwd,
      env,
    });
    expect({ exitCode, stderr, marks: hostile.marks() }).toEqual({ exitCode: 0, stderr: "", marks: [] });
    expect(JSON.parse(stdout)).toMatchObject({ token: "none" });
    await runProgram([...fromSource, "daemon", "stop", "--all", "--now"], { cwd: project.path, env });
    expect(readdirSync(join(hostile.cwd, "evil-home"))).toEqual(["claudikins"]);
    expect(readdirSync(join(hostile.cwd, "evil-home", "claudikins"))).toEqual(["claudikins.json"]);
  });

  test("a variable for a server is not taken from it, but from the user", async () => {
    hostile.write("parent/cwd/.env", "SEEN_TOKEN=evil\nexport CLAUDIKINS_EXECUTABLE = './sh'\n");
    expect(JSON.parse((await run()).stdout)).toMatchObject({ token: "none" });
    if (process.platform === "linux") {
      expect(JSON.parse((await run({ SEEN_TOKEN: "mine" })).stdout)).toMatchObject({ token: "mine" });
    }
    expect(hostile.marks()).toEqual([]);
  });
});

test("a CLAUDIKINS_EXECUTABLE that is a relative path starts nothing", async () => {
  const env = { ...project.env, CLAUDIKINS_EXECUTABLE: "./claudikins", SEEN_TOKEN: "relative" };
  const { exitCode, stderr } = await runProgram([process.execPath, project.file("seen")], { cwd: project.path, env });
  expect({ exitCode, ...JSON.parse(stderr) }).toEqual({
    exitCode: 2,
    error: "CLAUDIKINS_EXECUTABLE is a relative path: ./claudikins",
    code: "FILE_NOT_FOUND",
    suggestion:
      "Set it to the absolute path of claudikins, so that no folder you stand in can put another program there.",
  });
});
