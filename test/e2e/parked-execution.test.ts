/** An execution that one process of the executable has parked continues in another one, when nothing but the user's data is left. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { hasEnded } from "../../src/daemon/peers.ts";
import { Approvals } from "../../src/policy/approvals/approvals.ts";
import { executable } from "../support/claudikins.ts";
import { eventually } from "../support/eventually.ts";
import { runProgram } from "../support/process.ts";
import { fixture } from "../support/servers.ts";
import { temporaryFolder } from "../support/temporary.ts";

// Building the executable takes long on a small machine.
setDefaultTimeout(180_000);

test("the daemon, the host and the temporary files may be gone", async () => {
  using folder = temporaryFolder();
  const temporary = join(folder.path, "temporary");
  mkdirSync(temporary, { mode: 0o700 });
  const counts = join(folder.path, "counts");
  folder.write("claudikins.json", {
    mcpServers: { counting: { ...fixture("counting", counts), confirm: { act: "always" } } },
  });
  const program = executable();
  const env = {
    XDG_DATA_HOME: join(folder.path, "data"),
    TMPDIR: temporary,
    XDG_RUNTIME_DIR: temporary,
    CLAUDIKINS_DAEMON: "on",
  };
  const run = async (...argv: string[]) => {
    const { stdout, stderr, exitCode } = await runProgram([program, ...argv], { cwd: folder.path, env });
    if (exitCode !== 0) throw new Error(`${argv.join(" ")}: ${stderr}`);
    return stdout.trim();
  };
  const code = `const kept = new Map([["before", (await counting.read({ name: "before" })).count]]);
    const { count } = await counting.act({ name: "after" });
    return [...kept.values(), count]`;
  const id = await run("exec", "--detach", "-e", code);
  await using approvals = new Approvals({ env });
  const open = await eventually(async () => (await approvals.open({ execution: id }))[0]);
  const { daemons } = JSON.parse(await run("daemon", "status", "--json"));
  process.kill(daemons[0].pid, "SIGKILL");
  await hasEnded(daemons[0].pid, AbortSignal.timeout(10_000));
  rmSync(temporary, { recursive: true });
  expect(existsSync(temporary)).toBe(false);
  mkdirSync(temporary, { mode: 0o700 });
  await approvals.decide(open.id, { state: "approved", scope: "once", by: "command" });
  expect(JSON.parse(await run("executions", "wait", id, "--no-daemon"))).toEqual([1, 2]);
  expect(readFileSync(counts, "utf8")).toBe('["read","before"]\n["act","after"]\n');
});
