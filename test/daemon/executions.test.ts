/** `exec --detach`: the daemon runs the program, and the next daemon continues it. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { hasEnded } from "../../src/daemon/peers.ts";
import { claudikinsCommand } from "../support/command.ts";
import { eventually } from "../support/eventually.ts";
import { runProgram } from "../support/process.ts";
import { fixture } from "../support/servers.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

// Many processes run at once on a small machine.
setDefaultTimeout(120_000);

let folder: TemporaryFolder;
let counts: string;
beforeEach(() => {
  folder = temporaryFolder();
  counts = join(folder.path, "counts");
  folder.write("claudikins.json", { mcpServers: { counting: fixture("counting", counts) } });
});
afterEach(async () => {
  await claudikins("daemon", "stop", "--now");
  folder[Symbol.dispose]();
});

async function claudikins(...argv: string[]): Promise<string> {
  const env = { HOME: folder.path, CLAUDIKINS_DAEMON: "on" };
  const { stdout, stderr, exitCode } = await runProgram([...claudikinsCommand, ...argv], { cwd: folder.path, env });
  if (exitCode !== 0) throw new Error(`${argv.join(" ")}: ${stderr}`);
  return stdout.trim();
}

const called = () => (existsSync(counts) ? readFileSync(counts, "utf8").split("\n").length - 1 : 0);

test("a detached program is continued by the next daemon after a crash", async () => {
  const go = join(folder.path, "go");
  const code = `const { count } = await counting.read_wait({ until: ${JSON.stringify(go)} }); return "done after " + count`;
  const id = await claudikins("exec", "--detach", "-e", code);
  await eventually(() => called() === 1);
  const { daemons } = JSON.parse(await claudikins("daemon", "status", "--json"));
  process.kill(daemons[0].pid, "SIGKILL");
  await hasEnded(daemons[0].pid, AbortSignal.timeout(10_000));
  // Another command starts the next daemon.
  await claudikins("call", "counting.read");
  await eventually(() => called() === 3);
  await Bun.write(go, "");
  expect(await claudikins("executions", "wait", id)).toMatch(/^done after [23]$/);
  expect(JSON.parse(await claudikins("executions", "--json"))).toMatchObject({
    executions: [{ id, state: "ended", ok: true }],
  });
});

test("a program cannot be detached if the daemon is off", async () => {
  const env = { HOME: folder.path, CLAUDIKINS_DAEMON: "off" };
  const words = [...claudikinsCommand, "exec", "--detach", "-e", "return 1"];
  const { exitCode, stderr } = await runProgram(words, { cwd: folder.path, env });
  expect(exitCode).toBe(2);
  expect(stderr).toContain("there can be none here");
});

test("a detached program can be cancelled by another process", async () => {
  const id = await claudikins("exec", "--detach", "-e", 'await sleep("3h")');
  await claudikins("executions", "cancel", id);
  await expect(claudikins("executions", "wait", id)).rejects.toThrow("cancelled");
});
