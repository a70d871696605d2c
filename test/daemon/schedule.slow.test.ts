/** Scheduled programs with real daemons: what was missed is made up for, also after `kill -9`, and a changed program starts the next daemon. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { savedProgramsOf } from "../../src/config/saved-programs-place.ts";
import { Schedules } from "../../src/programs/saved/schedules.ts";
import { claudikinsCommand } from "../support/command.ts";
import { eventually } from "../support/eventually.ts";
import { ownFolder } from "../support/own-folder.ts";
import { runProgram, testEnvironment } from "../support/process.ts";
import { fixture } from "../support/servers.ts";

setDefaultTimeout(120_000);

const folder = ownFolder({ endsProcesses: true });

const env = () =>
  testEnvironment({ HOME: folder.path, XDG_DATA_HOME: join(folder.path, "data"), CLAUDIKINS_DAEMON: "on" });

async function run(...argv: string[]) {
  const { exitCode, stdout, stderr } = await runProgram([...claudikinsCommand, ...argv], {
    cwd: folder.path,
    env: env(),
  });
  expect([argv, exitCode, stderr]).toEqual([argv, 0, expect.any(String)]);
  return stdout;
}

const calls = () => {
  const file = join(folder.path, "counts");
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n").slice(0, -1);
  return lines.map((line) => (JSON.parse(line) as string[]).join(" "));
};

async function daemons(): Promise<number[]> {
  const { daemons: found } = JSON.parse(await run("daemon", "status", "--json"));
  return found.map(({ pid }: { pid: number }) => pid);
}

const schedules = () => {
  const file = join(folder.path, "claudikins.json");
  return new Schedules(savedProgramsOf({ kind: "project", file }, env()));
};

/** The program `act`, which was due three times while no daemon was running. It is due next in about half an hour. */
async function prepared(code: string): Promise<void> {
  folder.write("claudikins.json", { mcpServers: { counting: fixture("counting", join(folder.path, "counts")) } });
  folder.write("act.ts", code);
  await run("programs", "save", "act.ts", "--name", "act");
  const createdAt = Date.now() - 3 * 3_600_000;
  const minute = (new Date().getUTCMinutes() + 30) % 60;
  await schedules().add({
    version: 1,
    id: "act",
    program: "act",
    input: {},
    cron: `${minute} * * * *`,
    zone: "UTC",
    createdAt,
  });
}

const lastRun = () => schedules().find("act")?.lastRun;

test("a daemon that starts later runs once what was missed, stays, and is replaced when the program changes", async () => {
  await prepared('await counting.act({ name: "first" }); return "done";');
  await run("call", "counting.read");
  await eventually(() => lastRun()?.end);
  expect(lastRun()).toMatchObject({ missed: 2, end: { ok: true } });
  expect(calls().filter((call) => call.startsWith("act"))).toEqual(["act first"]);
  expect(await run("programs", "show", "act")).toContain("ok, after 2 missed");
  const ran = lastRun()?.execution?.slice(0, 8) ?? "no execution";
  expect(await run("executions", "list")).toMatch(new RegExp(`^${ran}\\w* .* schedule `, "m"));
  const [first] = await daemons();
  folder.write("act.ts", 'await counting.act({ name: "second" }); return "done";');
  await run("programs", "save", "act.ts", "--name", "act", "--replace");
  // Nobody calls a tool meanwhile.
  await eventually(
    async () => {
      const now = await daemons();
      return now.length === 1 && now[0] !== first;
    },
    { everyMs: 500, withinMs: 40_000 },
  );
  expect(calls().filter((call) => call.startsWith("act"))).toEqual(["act first"]);
  await run("programs", "unschedule", "act");
  await run("daemon", "stop", "--all");
});

test("a run whose daemon is killed continues in the next one, and its calls are made once", async () => {
  const until = join(folder.path, "until");
  await prepared(
    `await counting.act({ name: "first" });
await counting.read_wait({ until: ${JSON.stringify(until)} });
await counting.act({ name: "last" });
return "done";`,
  );
  await run("call", "counting.read");
  await eventually(() => calls().some((call) => call.startsWith("read_wait")));
  const [pid] = await daemons();
  process.kill(pid!, "SIGKILL");
  await eventually(async () => (await daemons()).length === 0);
  folder.write("until", "");
  await run("call", "counting.read");
  await eventually(() => lastRun()?.end, { withinMs: 40_000 });
  expect(lastRun()).toMatchObject({ missed: 2, end: { ok: true } });
  expect(calls().filter((call) => call.startsWith("act"))).toEqual(["act first", "act last"]);
  await run("programs", "unschedule", "act");
  await run("daemon", "stop", "--all");
});

test("a service waits while another daemon runs, and stays without calls", async () => {
  folder.write("claudikins.json", { mcpServers: { counting: fixture("counting", join(folder.path, "counts")) } });
  await run("call", "counting.read");
  const [first] = await daemons();
  const command = [
    ...claudikinsCommand,
    "daemon",
    "run",
    "--service",
    "--idle",
    "100ms",
    "--config",
    join(folder.path, "claudikins.json"),
  ];
  const service = Bun.spawn(command, { cwd: folder.path, env: env(), stdout: "ignore", stderr: "ignore" });
  await Bun.sleep(1_500);
  expect([await daemons(), service.exitCode]).toEqual([[first!], null]);
  await run("daemon", "stop");
  await eventually(async () => (await daemons())[0] === service.pid, { everyMs: 300, withinMs: 20_000 });
  await Bun.sleep(4_000);
  expect(await daemons()).toEqual([service.pid]);
  service.kill("SIGTERM");
  await service.exited;
});
