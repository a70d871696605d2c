/** Notifications with real daemons that are killed: each is sent at most once, and a line for an agent is in one session. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { claudikinsCommand } from "../support/command.ts";
import { eventually } from "../support/eventually.ts";
import { openHost } from "../support/host.ts";
import { ownFolder } from "../support/own-folder.ts";
import { runProgram, testEnvironment } from "../support/process.ts";
import { fixture } from "../support/servers.ts";

setDefaultTimeout(120_000);

const folder = ownFolder({ endsProcesses: true });

const env = () =>
  testEnvironment({ HOME: folder.path, XDG_DATA_HOME: join(folder.path, "data"), CLAUDIKINS_DAEMON: "on" });

async function run(...argv: string[]) {
  const options = { cwd: folder.path, env: env() };
  const { exitCode, stdout, stderr } = await runProgram([...claudikinsCommand, ...argv], options);
  expect([argv, exitCode, stderr]).toEqual([argv, 0, expect.any(String)]);
  return stdout;
}

const json = async (...argv: string[]) => JSON.parse(await run(...argv, "--json"));

async function killDaemons(): Promise<void> {
  for (const { pid } of (await json("daemon", "status")).daemons) process.kill(pid, "SIGKILL");
  await eventually(async () => (await json("daemon", "status")).daemons.length === 0);
}

const told = () => (existsSync(join(folder.path, "told")) ? readFileSync(join(folder.path, "told"), "utf8") : "");

async function saved(code: string): Promise<void> {
  folder.write("claudikins.json", { mcpServers: { counting: fixture("counting", join(folder.path, "counts")) } });
  folder.write("nightly.ts", code);
  await run("programs", "save", "nightly.ts", "--name", "nightly");
}

test("a command that runs when its daemon is killed is not run again by the next one", async () => {
  await saved("return 7;");
  const line = `echo "$CLAUDIKINS_STATE" >> '${join(folder.path, "told")}'; exec sleep 20`;
  await run("programs", "notify", "nightly", "--when", "done", "--command", line);
  await run("programs", "run", "nightly");
  await eventually(() => told() !== "");
  await killDaemons();
  await run("call", "counting.read");
  await Bun.sleep(8_000);
  expect(told()).toBe("done\n");
  expect(await json("programs", "deliveries")).toMatchObject({ deliveries: [{ state: "running", attempts: 1 }] });
  await run("daemon", "stop", "--all");
});

test("the next daemon notifies once of a program whose daemon was killed while it ran", async () => {
  await saved("await counting.wait({ until: '/nowhere' });");
  await run("programs", "notify", "nightly", "--command", `echo "$CLAUDIKINS_STATE" >> '${join(folder.path, "told")}'`);
  await run("programs", "run", "nightly", "--detach");
  await eventually(() => existsSync(join(folder.path, "counts")));
  await killDaemons();
  expect(told()).toBe("");
  await run("call", "counting.read");
  await eventually(() => told() !== "", { withinMs: 60_000 });
  await Bun.sleep(5_000);
  expect(told()).toBe("failed\n");
  await run("daemon", "stop", "--all");
});

test("only the first answer of the next session says what has ended", async () => {
  await saved("return 7;");
  await run("programs", "notify", "nightly", "--when", "done", "--agent");
  await run("programs", "run", "nightly");
  await eventually(async () => (await json("programs", "deliveries")).deliveries.length > 0);
  const text = async () => {
    await using host = await openHost(folder, { env: env() });
    const answers = [];
    for (let call = 0; call < 2; call++) {
      answers.push(JSON.stringify(await host.call("execute_code", { code: "return 1" })));
    }
    return answers.map((answer) => answer.includes("nightly has ended"));
  };
  expect(await text()).toEqual([true, false]);
  expect(await text()).toEqual([false, false]);
  await run("daemon", "stop", "--all");
});

/** Less than the time for which the daemon waits for commands and webhooks that are under way. */
const restMs = 4_000;

test("a daemon ends at once if no notification is under way", async () => {
  await saved("return 7;");
  await run("programs", "notify", "nightly", "--command", "true");
  const begun = performance.now();
  await run("daemon", "stop", "--all");
  expect(performance.now() - begun).toBeLessThan(restMs);
});
