/** CLAUDIKINS_LOG: events of servers on stderr, and only data on stdout. */
import { expect, setDefaultTimeout, test } from "bun:test";
import type { Io } from "../../src/cli/io.ts";
import { run } from "../../src/cli/run.ts";
import { claudikinsCommand } from "../support/command.ts";
import { runProgram } from "../support/process.ts";
import { fixture } from "../support/servers.ts";
import { temporaryFolder } from "../support/temporary.ts";
import { cli } from "./in-memory.ts";

setDefaultTimeout(60_000);

async function stderrAt(level: string): Promise<string> {
  using folder = temporaryFolder();
  folder.write("claudikins.json", { mcpServers: { odd: fixture("odd") } });
  const command = [...claudikinsCommand, "exec", "-e", "return odd.structured()"];
  const { stdout, stderr } = await runProgram(command, { cwd: folder.path, env: { CLAUDIKINS_LOG: level } });
  expect(JSON.parse(stdout)).toEqual({ answer: 42 });
  return stderr;
}

test("info logs starts and ends of servers, debug also their mistakes, silent nothing", async () => {
  const info = await stderrAt("info");
  expect(info).toMatch(/odd is ready after \d+ ms \(process \d+\)/);
  expect(info).toContain("odd was stopped: claudikins is closing");
  expect(info).not.toContain("JSON-RPC");
  expect(await stderrAt("debug")).toContain("odd: not a JSON-RPC message: INFO: starting");
  expect(await stderrAt("silent")).toMatch(/^\[1 call · \d[\d.,]* m?s.*\]\n$/);
});

test("--verbose does the same for one command, before or after its name, without secrets", async () => {
  using folder = temporaryFolder();
  const secret = "s3cr3t-t0k3n-0123456789";
  folder.write("claudikins.json", { mcpServers: { shop: { ...fixture("chatty"), env: { API_TOKEN: secret } } } });
  const code = `await shop.log({ level: "debug", data: await shop.env({ name: "API_TOKEN" }) }); return 42`;
  for (const words of [
    ["--verbose", "exec", "-e", code],
    ["exec", "-e", code, "--verbose"],
  ]) {
    const env = { CLAUDIKINS_LOG: "silent" };
    const { exitCode, stdout, stderr } = await runProgram([...claudikinsCommand, ...words], { cwd: folder.path, env });
    expect([exitCode, stdout]).toEqual([0, "42\n"]);
    expect(stderr).toMatch(/shop is ready after \d+ ms \(process \d+\)/);
    expect(stderr).toContain("shop (shop): ***");
    expect(stderr).not.toContain(secret);
  }
});

test("unexpected errors show their stack with --verbose", async () => {
  let stderr = "";
  const add = (text: string) => {
    stderr += text;
  };
  const unheard = new TypeError("nobody expected this");
  const output = { isTerminal: false, write: async (text: string) => add(text) };
  const io: Io = {
    stdin: {
      isTerminal: false,
      text: () => Promise.reject(unheard),
      line: async () => undefined,
      dropTyped: async () => {},
    },
    stdout: output,
    stderr: output,
    env: {},
    cwd: "/",
    interrupted: new AbortController().signal,
  };
  expect(await run(["exec", "-"], io)).toBe(1);
  expect(stderr).toBe("error: nobody expected this\n");
  expect(await run(["exec", "-", "--verbose"], io)).toBe(1);
  expect(stderr).toMatch(/^error: .*\nerror: nobody expected this\n {4}at .*log\.test\.ts:/);
});

test.each([["stats"], ["logs"], ["exec"]])("%s refuses an unknown level", async (command) => {
  const { exitCode, stderr } = await cli([command], { env: { CLAUDIKINS_LOG: "loud" } });
  expect([exitCode, stderr]).toEqual([
    2,
    'error: CLAUDIKINS_LOG takes one of silent, error, warn, info, debug; got "loud"\n',
  ]);
  // Usage errors are always printed.
  expect((await cli([command, "--help"], { env: { CLAUDIKINS_LOG: "loud" } })).exitCode).toBe(0);
});

test("an unknown level is refused before any code runs", async () => {
  using folder = temporaryFolder();
  const ended = await runProgram([...claudikinsCommand, "exec", "-e", "1"], {
    cwd: folder.path,
    env: { CLAUDIKINS_LOG: "loud" },
  });
  expect(ended).toEqual({
    exitCode: 2,
    stdout: "",
    stderr: 'error: CLAUDIKINS_LOG takes one of silent, error, warn, info, debug; got "loud"\n',
  });
});
