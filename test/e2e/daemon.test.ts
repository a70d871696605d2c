/** The executable writes generated files, they start its daemon, and the daemon notices an upgrade. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { copyFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { executable } from "../support/claudikins.ts";
import { processesLeft, runProgram, testEnvironment } from "../support/process.ts";
import { fixture } from "../support/servers.ts";
import { temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(60_000);

test("generated files work from gen to daemon stop, even across an upgrade of the executable", async () => {
  using folder = temporaryFolder();
  const env = testEnvironment({ HOME: folder.path, XDG_DATA_HOME: join(folder.path, "data") });
  const seen = { ...fixture("seen", folder.path), category: "test" };
  folder.write("claudikins.json", { mcpServers: { seen } });
  const binary = join(folder.path, "bin", "claudikins");
  folder.write("bin/new", "");
  const install = () => {
    copyFileSync(executable(), join(folder.path, "bin", "new"));
    renameSync(join(folder.path, "bin", "new"), binary);
  };
  install();
  const options = { cwd: folder.path, env };
  expect((await runProgram([binary, "gen"], options)).exitCode).toBe(0);
  const file = join(folder.path, ".claudikins", "registry", "test", "seen", "seen.ts");
  const call = async () => {
    const { stdout, stderr } = await runProgram([process.execPath, file], options);
    return (JSON.parse(stdout || stderr) as { pid: number }).pid;
  };
  const first = await call();
  expect(await call()).toBe(first);
  expect(first).toBeGreaterThan(0);
  install();
  const upgraded = await call();
  expect(upgraded).not.toBe(first);
  expect(await call()).toBe(upgraded);
  const { stdout } = await runProgram([binary, "daemon", "stop", "--json"], options);
  expect(JSON.parse(stdout).stopped).toHaveLength(1);
  expect(await processesLeft(folder.path)).toEqual([]);
});
