/** The daemon starts servers with the environment of the caller that needs them, whoever has started the daemon. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { claudikinsCommand } from "../support/command.ts";
import { type GeneratedProject, generatedProject } from "../support/daemon.ts";
import { runProgram, shellLine } from "../support/process.ts";
import { fixture } from "../support/servers.ts";

setDefaultTimeout(60_000);

let project: GeneratedProject;
let env: Record<string, string>;

beforeEach(async () => {
  project = await generatedProject((folder) => ({
    late: { command: "late-server", args: [folder], startTimeoutMs: 5_000, category: "test" },
  }));
  env = { ...project.env, CLAUDIKINS_DAEMON: "on" };
  const { command, args = [] } = fixture("seen");
  const words = shellLine([command, ...args]);
  chmodSync(project.write("bin/late-server", `#!/bin/sh\nexec ${words} "$@"\n`), 0o755);
});
afterEach(() => project[Symbol.asyncDispose]());

const claudikins = (words: string[], more: Record<string, string> = {}) =>
  runProgram([...claudikinsCommand, ...words], { cwd: join(project.path, "project"), env: { ...env, ...more } });
const withServer = () => ({ PATH: `${join(project.path, "bin")}:${env["PATH"]}` });

/** Starts the daemon as a program would that does not know where the server is. */
async function startDaemon(): Promise<void> {
  expect((await claudikins(["call", "seen.seen"])).exitCode).toBe(0);
  expect(await project.daemons()).toHaveLength(1);
}

test.skipIf(process.platform === "win32").each(["call", "call --json", "exec --detach"])(
  "%s finds a server on the PATH of its own shell",
  async (words) => {
    await startDaemon();
    const [command = "", ...flags] = words.split(" ");
    const isProgram = command === "exec";
    const what = isProgram ? ["-e", "return (await late.seen()).cwd"] : ["late.seen"];
    const { exitCode, stdout, stderr } = await claudikins([command, ...flags, ...what], withServer());
    expect([exitCode, stderr]).toEqual([0, isProgram ? expect.any(String) : ""]);
    if (!isProgram) return;
    const [id = ""] = /[0-9a-z]{10,}/.exec(stdout) ?? [];
    const ended = await claudikins(["executions", "wait", id]);
    expect([ended.exitCode, ended.stderr]).toEqual([0, expect.not.stringContaining("command not found")]);
  },
);

test.skipIf(process.platform === "win32")("a relative folder of a caller's PATH is not searched", async () => {
  await startDaemon();
  chmodSync(project.write("project/late-server", "#!/bin/sh\nexit 1\n"), 0o755);
  const { exitCode } = await claudikins(["call", "late.seen"], { PATH: `.:${withServer().PATH}` });
  expect(exitCode).toBe(0);
});

test.skipIf(process.platform === "win32")("a generated program brings its environment too", async () => {
  expect((await claudikins(["gen", "--server", "late"], withServer())).exitCode).toBe(0);
  await claudikins(["daemon", "stop", "--all"]);
  await startDaemon();
  const late = await runProgram([process.execPath, project.file("seen", "late"), "{}"], {
    cwd: join(project.path, "project"),
    env: { ...env, ...withServer() },
  });
  expect([late.exitCode, late.stderr]).toEqual([0, ""]);
});

test("variables that entries inherit reach their servers, also if the daemon was started without them", async () => {
  const inherit = ["MY_TOKEN", "APP_*"];
  project.write("project/claudikins.json", { mcpServers: { odd: { ...fixture("odd", project.path), inherit } } });
  const seen = async (more: Record<string, string>) => {
    const { stdout } = await claudikins(["call", "odd.environment", "--json"], more);
    const { MY_TOKEN, APP_ONE, OTHER } = JSON.parse(stdout).value;
    return [MY_TOKEN, APP_ONE, OTHER];
  };
  expect(await seen({})).toEqual([undefined, undefined, undefined]);
  expect(await seen({ MY_TOKEN: "a", APP_ONE: "1", OTHER: "x" })).toEqual(["a", "1", undefined]);
  // Another value is that of another user, and the same values share one process.
  expect(await seen({ MY_TOKEN: "b" })).toEqual(["b", undefined, undefined]);
  expect(await seen({ MY_TOKEN: "a", APP_ONE: "1" })).toEqual(["a", "1", undefined]);
  expect(await project.daemons()).toHaveLength(3);
});
