/** The executable's `call`: the examples of its help work with and without the daemon, and leave no processes. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import call from "../../src/cli/commands/call.ts";
import { executable } from "../support/claudikins.ts";
import { processesLeft, processesWith, runProgram, testEnvironment } from "../support/process.ts";
import { everything } from "../support/servers.ts";
import { temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(120_000);

test.skipIf(process.platform === "win32").each(["on", "off"])(
  "call runs the examples of its help with CLAUDIKINS_DAEMON=%s",
  async (daemon) => {
    using folder = temporaryFolder();
    const binary = executable();
    const PATH = `${dirname(binary)}:${process.env["PATH"]}`;
    const env = testEnvironment({
      HOME: folder.path,
      XDG_DATA_HOME: join(folder.path, "data"),
      CLAUDIKINS_DAEMON: daemon,
      PATH,
    });
    const examples = call.examples.filter((line) => !line.includes("--interactive"));
    expect(examples.length).toBeGreaterThan(4);
    for (const line of examples) {
      const { exitCode, stdout, stderr } = await runProgram(["sh", "-c", line], { cwd: folder.path, env });
      const isPicture = line.includes("-o ");
      const said = isPicture ? "Wrote chart.png" : line.includes("--wire") ? "demo → tools/call" : undefined;
      expect([line, exitCode, stderr]).toEqual([line, 0, said === undefined ? "" : expect.stringContaining(said)]);
      expect([line, stdout]).toEqual([line, expect.stringContaining(isPicture ? "mugs" : "ord_")]);
    }
    expect(readFileSync(join(folder.path, "chart.png")).subarray(1, 4).toString()).toBe("PNG");
    await runProgram([binary, "daemon", "stop", "--all"], { cwd: folder.path, env });
    expect(await processesLeft(folder.path)).toEqual([]);
  },
);

test("the second call uses the same server process", async () => {
  using folder = temporaryFolder();
  const env = testEnvironment({ HOME: folder.path, XDG_DATA_HOME: join(folder.path, "data"), CLAUDIKINS_DAEMON: "on" });
  const entry = everything();
  folder.write("claudikins.json", { mcpServers: { everything: { ...entry, args: [...entry.args, folder.path] } } });
  const run = (...args: string[]) => runProgram([executable(), ...args], { cwd: folder.path, env });
  const pids = () => processesWith(folder.path).filter((pid) => processesWith("server-everything").includes(pid));
  expect(await run("call", "everything.echo", "message=one")).toEqual({
    exitCode: 0,
    stdout: "Echo: one\n",
    stderr: "",
  });
  const first = pids();
  expect(first).toHaveLength(1);
  expect(await run("call", "everything", "get-sum", "a=2", "b=3")).toMatchObject({ exitCode: 0, stderr: "" });
  expect(pids()).toEqual(first);
  expect((await run("daemon", "stop")).exitCode).toBe(0);
  expect(await processesLeft(folder.path)).toEqual([]);
});
