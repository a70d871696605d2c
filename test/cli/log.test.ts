/** CLAUDIKINS_LOG: what happens to the servers, on stderr, and nothing on stdout but data. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { fromSource } from "../support/claudikins.ts";
import { runProgram } from "../support/process.ts";
import { fixture } from "../support/servers.ts";
import { temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(30_000);

async function stderrAt(level: string): Promise<string> {
  using folder = temporaryFolder();
  folder.write("claudikins.json", { mcpServers: { odd: fixture("odd") } });
  const command = [...fromSource, "exec", "-e", "return odd.structured()"];
  const { stdout, stderr } = await runProgram(command, { cwd: folder.path, env: { CLAUDIKINS_LOG: level } });
  expect(JSON.parse(stdout)).toEqual({ answer: 42 });
  return stderr;
}

test("info tells when servers come and go, debug also what they do wrong, silent nothing", async () => {
  const info = await stderrAt("info");
  expect(info).toMatch(/odd is ready after \d+ ms \(process \d+\)/);
  expect(info).toContain("odd was ended: claudikins is closing");
  expect(info).not.toContain("JSON-RPC");
  expect(await stderrAt("debug")).toContain("odd: not a JSON-RPC message: INFO: starting");
  expect(await stderrAt("silent")).toMatch(/^\[1 call · [\d,]+ ms.*\]\n$/);
});

test("a level that there is not", async () => {
  using folder = temporaryFolder();
  const ended = await runProgram([...fromSource, "exec", "-e", "1"], {
    cwd: folder.path,
    env: { CLAUDIKINS_LOG: "loud" },
  });
  expect(ended).toEqual({
    exitCode: 2,
    stdout: "",
    stderr: 'error: CLAUDIKINS_LOG takes one of silent, warn, info, debug; got "loud"\n',
  });
});
