/**
 * The memory of `serve` and the daemon at rest, and that of a live execution: the resident size for a growing number of executions that
 * wait.
 */

import { AtRest } from "./at-rest.ts";
import { startHost } from "./host.ts";
import { hasProc, residentMb, slope } from "./measure.ts";
import { waiting } from "./programs.ts";
import { type Other, type Row, under } from "./report.ts";
import { type Measure, Peers } from "./section.ts";

/** The numbers of waiting executions. */
const counts = [1, 2, 4, 8];

/** Smaller values are within the noise of a process. */
const leastMb = 1;

/** The most that a live execution may take. */
const executionMb = 10;

/** This number of executions may take this much together with `serve`. */
const together = { executions: 32, mb: 400 };

export const measureMemory: Measure = async (bench) => {
  if (!hasProc) return { rows: [], notes: ["The resident size cannot be measured here: there is no /proc."] };
  await using atRest = new AtRest();
  await atRest.run(bench);
  await using host = await startHost(bench.binary, bench.folder());
  await using peers = await Peers.start(bench);
  await host.execute("return 1");
  const executions = new AbortController();
  const start = () => void host.execute(waiting, { timeoutMs: 600_000, signal: executions.signal }).catch(() => {});
  const ours = await perExecutionMb(() => [host.pid], start);
  for (let started = counts.at(-1)!; started < together.executions; started++) start();
  const togetherMb = await settledMb(() => [host.pid]);
  executions.abort();
  const others: Record<string, Other> = { ...peers.missing };
  for (const [name, peer] of Object.entries(peers.running)) {
    if (name === "@utcp/code-mode") {
      others[name] = { none: "cannot" };
      continue;
    }
    const value = await perExecutionMb(peer.pids, () => peer.leave(waiting));
    // A ratio to almost nothing differs with each run.
    others[name] = { value, ...(value < leastMb ? {} : { ratio: ours / value }) };
  }
  const counted = `${counts.join(", ")} at once`;
  const live: Row = { what: "resident size per live execution", unit: "MB", ours, others, counted };
  const all: Row = {
    what: `resident size of serve with ${together.executions} executions`,
    unit: "MB",
    ours: togetherMb,
    others: {},
    counted: "once",
  };
  return {
    rows: [...(await atRest.rows()), under(live, executionMb), under(all, together.mb)],
    notes: [
      "The sizes of serve and the daemon are resident sizes, including pages of the executable, which all processes of the machine share. The private part belongs to one process alone. After an idle minute, for which the section waits, unused pages of the executable are no longer mapped and stay only in the cache of the system.",
      "Per live execution: the slope of the resident size over the number of executions that wait for a timer. For deno, the sum over its processes, shared pages included.",
      "@utcp/code-mode cannot take part: it has no timers.",
    ],
  };
};

async function perExecutionMb(pids: () => number[], start: () => void): Promise<number> {
  const points: { x: number; y: number }[] = [];
  let started = 0;
  for (const count of counts) {
    for (; started < count; started++) start();
    points.push({ x: count, y: await settledMb(pids) });
  }
  return slope(points);
}

/** The sum once it no longer changes, or after five seconds. */
async function settledMb(pids: () => number[]): Promise<number> {
  const readings: number[] = [];
  const steady = () => {
    const last = readings.slice(-5);
    return last.length === 5 && Math.max(...last) - Math.min(...last) < 0.5;
  };
  while (!steady() && readings.length < 50) {
    await Bun.sleep(100);
    readings.push(pids().reduce((sum, pid) => sum + residentMb(pid), 0));
  }
  return readings.at(-1)!;
}
