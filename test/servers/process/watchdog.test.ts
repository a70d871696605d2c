/** The watchdog ends server processes if claudikins is killed, and is not noticed otherwise. */
import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { eventually } from "../../support/eventually.ts";
import { processesLeft, processesWith, testEnvironment } from "../../support/process.ts";

// Processes start slowly on a small machine.
setDefaultTimeout(60_000);

/** Numbers that `sleep` accepts, and by which processes are found. */
let marks = 0;
const someMark = () => `${100_000 + process.pid}.${Date.now()}${++marks}`;

const running: { kill(signal: NodeJS.Signals): void; exited: Promise<unknown> }[] = [];
afterEach(async () => {
  for (const child of running) child.kill("SIGKILL");
  await Promise.all(running.splice(0).map(({ exited }) => exited));
});

/** Runs the scripts as process groups of one process. */
async function start(...scripts: string[]) {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "watched.ts")], {
    env: testEnvironment({ SCRIPTS: JSON.stringify(scripts) }),
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  running.push(child);
  const reader = child.stdout.getReader();
  const { value } = await reader.read();
  const pids = new TextDecoder().decode(value).trim().split(" ").map(Number);
  const watchdog = `claudikins-watchdog ${child.pid} `;
  /** Resolves when no process has its stdout open. */
  const ended = reader.closed;
  return { child, pids, watchdog, ended };
}

/** Waits for a number of processes with the mark. A shell with the mark in its script counts. */
async function runs(mark: string, count: number): Promise<void> {
  await eventually(() => processesWith(mark).length >= count);
}

describe("after SIGKILL of claudikins", () => {
  test("every group is ended, even if it ignores SIGTERM or its leader has gone", async () => {
    const [willing, deaf, orphan] = [someMark(), someMark(), someMark()];
    const { child, watchdog } = await start(
      `exec sleep ${willing}`,
      `trap "" TERM HUP INT; sleep ${deaf} & sleep ${deaf}`,
      `(trap "" TERM HUP INT; exec sleep ${orphan}) & cat`,
    );
    await Promise.all([runs(willing, 1), runs(deaf, 3), runs(orphan, 2)]);
    await runs(watchdog, 1);
    child.kill("SIGKILL");
    for (const mark of [willing, deaf, orphan, watchdog]) expect(await processesLeft(mark, 10_000)).toEqual([]);
  });

  // Only Linux shows the environment of a process in a file.
  test.if(process.platform === "linux")(
    "a group that was just being started is found, with or without its leader",
    async () => {
      const [other, leader, orphan] = [someMark(), someMark(), someMark()];
      const leading = await start(`exec sleep ${other}`, `#untold\ntrap "" TERM; sleep ${leader} & sleep ${leader}`);
      const leaving = await start(`#untold\n(trap "" TERM HUP INT; exec sleep ${orphan}) & cat`);
      await Promise.all([runs(other, 1), runs(leader, 3), runs(orphan, 2)]);
      for (const { child } of [leading, leaving]) child.kill("SIGKILL");
      for (const text of [other, leader, orphan, leading.watchdog, leaving.watchdog]) {
        expect(await processesLeft(text)).toEqual([]);
      }
    },
  );

  test("the watchdog has survived signals of the terminal", async () => {
    const mark = someMark();
    const { child, watchdog } = await start(`exec sleep ${mark}`);
    await runs(mark, 1);
    const [pid = 0] = processesWith(watchdog);
    for (const signal of ["SIGINT", "SIGHUP", "SIGTERM", "SIGQUIT"] as const) process.kill(pid, signal);
    await Bun.sleep(50);
    child.kill("SIGKILL");
    for (const text of [mark, watchdog]) expect(await processesLeft(text)).toEqual([]);
  });

  test("a group that was reported as ended is not touched, since its id may be reused", async () => {
    const mark = someMark();
    const { child, watchdog, pids } = await start(`#done\nexec sleep ${mark}`);
    await runs(mark, 1);
    child.kill("SIGKILL");
    expect(await processesLeft(watchdog)).toEqual([]);
    expect(processesWith(mark)).toEqual(pids);
    process.kill(pids[0] ?? 0, "SIGKILL");
    expect(await processesLeft(mark)).toEqual([]);
  });
});

describe("the watchdog", () => {
  test("is one process for all groups, and ends with claudikins", async () => {
    const [first, second] = [someMark(), someMark()];
    const { child, watchdog } = await start(`exec sleep ${first}`, `exec sleep ${second}`);
    await runs(watchdog, 1);
    child.stdin.end();
    expect(await child.exited).toBe(0);
    for (const text of [first, second, watchdog]) expect(await processesLeft(text)).toEqual([]);
  });

  test("keeps none of our streams open", async () => {
    const mark = someMark();
    const { child, watchdog, ended } = await start(`trap "" TERM; sleep ${mark} & sleep ${mark}`);
    await runs(mark, 3);
    child.kill("SIGKILL");
    await ended;
    expect(processesWith(watchdog)).not.toEqual([]);
    for (const text of [mark, watchdog]) expect(await processesLeft(text)).toEqual([]);
  });

  test("waits for nothing after a group that could not be started", async () => {
    const { child, watchdog } = await start();
    await runs(watchdog, 1);
    child.stdin.end();
    expect(await child.exited).toBe(0);
    // It would wait for a second.
    expect(await processesLeft(watchdog, 900)).toEqual([]);
  });

  test("is replaced when it is needed if somebody ends it, and the new one knows all groups", async () => {
    const [first, second] = [someMark(), someMark()];
    const { child, watchdog, pids } = await start(`exec sleep ${first}`, `exec sleep ${second}`);
    await Promise.all([runs(first, 1), runs(second, 1), runs(watchdog, 1)]);
    const [pid = 0] = processesWith(watchdog);
    process.kill(pid, "SIGKILL");
    expect(await processesLeft(watchdog)).toEqual([]);
    process.kill(pids[1] ?? 0, "SIGKILL");
    await eventually(() => processesWith(watchdog).length > 0);
    // The process can be seen a moment before it is told the groups.
    await Bun.sleep(300);
    child.kill("SIGKILL");
    for (const text of [first, second, watchdog]) expect(await processesLeft(text)).toEqual([]);
  });
});
