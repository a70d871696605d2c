/** Times and sizes: contestants in turn, so that a machine whose speed drifts drifts for all of them. */
import { readFileSync } from "node:fs";

/** One measurement, in milliseconds. Throws where what is measured fails: a figure of a failure is no figure. */
export type Contestant = () => Promise<number>;

/** `ours` first, and what stands beside it by name. */
export type Contestants = { ours: Contestant } & Record<string, Contestant>;
export type Times = { ours: number[] } & Record<string, number[]>;

/**
 * What each contestant took, in the order of the rounds. One round more goes before, and does not count. `repeat` says how
 * often a contestant goes in each.
 */
export async function inTurn(rounds: number, contestants: Contestants, repeat = (_: string) => 1): Promise<Times> {
  const entries = Object.entries(contestants);
  const times = Object.fromEntries(entries.map(([name]): [string, number[]] => [name, []])) as Times;
  for (let round = 0; round <= rounds; round++) {
    for (const [name, measure] of entries) {
      for (let run = 0; run < repeat(name); run++) {
        const ms = await measure();
        if (round > 0) times[name]!.push(ms);
      }
    }
  }
  return times;
}

/** The median of the ratios of neighbours; below 1 the first ones are smaller. */
export function ratioOf(ours: number[], others: number[]): number {
  return median(ours.slice(0, others.length).map((value, round) => value / others[round]!));
}

export async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

/** Wall time from start to exit. */
export async function processMs(command: string[], cwd: string): Promise<number> {
  const startedAt = performance.now();
  const child = Bun.spawn(command, { cwd, stdin: "ignore", stdout: "ignore", stderr: "ignore" });
  const exitCode = await child.exited;
  const ms = performance.now() - startedAt;
  if (exitCode !== 0) throw new Error(`${command.join(" ")} ended with ${exitCode}`);
  return ms;
}

/** The middle of a list that is not empty. */
export function median(values: number[]): number {
  const sorted = sortedNumbers(values);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** The value that `share` (0 to 1) of the values are not above. */
export function percentile(values: number[], share: number): number {
  return sortedNumbers(values)[Math.max(0, Math.ceil(values.length * share) - 1)]!;
}

/** The slope of the line that lies nearest to the points. */
export function slope(points: { x: number; y: number }[]): number {
  const mean = (pick: (point: { x: number; y: number }) => number) =>
    points.reduce((sum, point) => sum + pick(point), 0) / points.length;
  const [x, y] = [mean((point) => point.x), mean((point) => point.y)];
  const above = points.reduce((sum, point) => sum + (point.x - x) * (point.y - y), 0);
  return above / points.reduce((sum, point) => sum + (point.x - x) ** 2, 0);
}

export const hasProc = process.platform === "linux";

/** Resident size in MB: what it is now (`VmRSS`), or the highest it ever was (`VmHWM`). Needs /proc. */
export function residentMb(pid: number, what: "VmRSS" | "VmHWM" = "VmRSS"): number {
  const kilobytes = new RegExp(`^${what}:\\s+(\\d+)`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  if (kilobytes === undefined) throw new Error(`/proc/${pid}/status has no ${what}`);
  return Number(kilobytes) / 1_024;
}

function sortedNumbers(values: number[]): number[] {
  return [...values].sort((a, b) => a - b);
}
