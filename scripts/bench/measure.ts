/** Times and sizes, measured in turn, so that a change in the speed of the machine affects all contestants. */
import { readFileSync } from "node:fs";

/** One measurement, in milliseconds. Throws if the measured work fails, because the time of a failure means nothing. */
export type Contestant = () => Promise<number>;

/** `ours` first, then the others by name. */
export type Contestants = { ours: Contestant } & Record<string, Contestant>;
export type Times = { ours: number[] } & Record<string, number[]>;

/** The number of rounds: more than the minimum are run only while a ratio is imprecise. */
export interface Rounds {
  least: number;
  most: number;
  /** No further round starts after this time, once the minimum is reached. */
  withinMs?: number;
}

/** A ratio is precise if its median is known within this share of itself; see `spreadOf`. */
const knownWithin = 0.05;

/** A contestant that takes less than this share of a round runs several times in each. The number is fixed, because repeated runs are faster. */
const quickShare = 1 / 30;
const quickRuns = 5;

/** Short measurements have two warm-up rounds: the first one starts what the others use. */
const shortMs = 3_000;

/**
 * The times of each contestant, in the order of the rounds, without a warm-up round. `repeat` sets how often a
 * contestant runs per round. Without it, and if the rounds have a time limit, fast contestants run more often, because
 * their single times are less precise.
 */
export async function inTurn(
  rounds: Rounds | number,
  contestants: Contestants,
  repeat?: (name: string) => number,
): Promise<Times> {
  const { least, most, withinMs = Number.POSITIVE_INFINITY } = typeof rounds === "number" ? exactly(rounds) : rounds;
  const hasEnd = withinMs !== Number.POSITIVE_INFINITY;
  const entries = Object.entries(contestants);
  const times = Object.fromEntries(entries.map(([name]): [string, number[]] => [name, []])) as Times;
  const startedAt = performance.now();
  let wholeMs = await eachOnce(entries);
  if (!repeat && hasEnd && performance.now() - startedAt < shortMs) wholeMs = await eachOnce(entries);
  const repeats = repeat ?? (hasEnd ? repeatsIn(wholeMs) : () => 1);
  const isEnough = () => isKnown(times) || performance.now() - startedAt > withinMs;
  for (let round = 0; round < most && !(round >= least && isEnough()); round++) {
    for (const [name, measure] of entries) {
      for (let run = repeats(name); run > 0; run--) times[name]!.push(await measure());
    }
  }
  return times;
}

/** The mean of several measurements. */
export async function meanOf(times: number, measure: Contestant): Promise<number> {
  let ms = 0;
  for (let time = 0; time < times; time++) ms += await measure();
  return ms / times;
}

/** Runs each contestant for a while: engines compile code that runs often, which can halve its time. */
export async function warmUp(contestants: Contestants, eachMs: number): Promise<void> {
  for (const measure of Object.values(contestants)) {
    const startedAt = performance.now();
    while (performance.now() - startedAt < eachMs) await measure();
  }
}

async function eachOnce(entries: [name: string, measure: Contestant][]): Promise<Record<string, number>> {
  const wholeMs: Record<string, number> = {};
  for (const [name, measure] of entries) wholeMs[name] = await timeOf(measure);
  return wholeMs;
}

/** The number of repetitions, from each contestant's total time including its setup. */
function repeatsIn(wholeMs: Record<string, number>): (name: string) => number {
  const roundMs = Object.values(wholeMs).reduce((sum, ms) => sum + ms, 0);
  return (name) => (wholeMs[name]! < roundMs * quickShare ? quickRuns : 1);
}

export const exactly = (rounds: number): Rounds => ({ least: rounds, most: rounds });

function isKnown({ ours, ...others }: Times): boolean {
  const lists = Object.values(others).map((values) => ratiosOf(ours, values));
  return (lists.length === 0 ? [ours] : lists).every((values) => (spreadOf(values) ?? 1) <= knownWithin);
}

/** The median of the ratios of corresponding times; below 1, `ours` are smaller. */
export function ratioOf(ours: number[], others: number[]): number {
  return median(ratiosOf(ours, others));
}

/** The ratios of times that were measured in the same round. If one side was measured more often, the medians of its rounds count. */
export function ratiosOf(ours: number[], others: number[]): number[] {
  const rounds = Math.min(ours.length, others.length);
  const [first, second] = [inRounds(ours, rounds), inRounds(others, rounds)];
  return first.map((value, round) => value / second[round]!);
}

function inRounds(values: number[], rounds: number): number[] {
  const each = Math.floor(values.length / rounds);
  return Array.from({ length: rounds }, (_, round) => median(values.slice(round * each, (round + 1) * each)));
}

/**
 * The precision of the median: half of the interval that contains it with a probability of 95 per cent, by the ranks of
 * the values, as a share of the median. Fewer than five values give less certainty (three give 75 per cent), and fewer
 * than three give none.
 */
export function spreadOf(values: number[]): number | undefined {
  if (values.length < 3) return undefined;
  const sorted = sortedNumbers(values);
  const rank = Math.max(0, Math.floor(sorted.length / 2 - 0.98 * Math.sqrt(sorted.length)));
  return (sorted[sorted.length - 1 - rank]! - sorted[rank]!) / 2 / median(values);
}

export async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

/** No process of the benchmark takes this long: a process that still runs will never end. */
const processWithinMs = 60_000;

/** Wall time from start to exit. */
export async function processMs(command: string[], cwd: string): Promise<number> {
  const startedAt = performance.now();
  const quiet = { stdin: "ignore", stdout: "ignore", stderr: "ignore" } as const;
  const child = Bun.spawn(command, {
    cwd,
    env: process.env,
    ...quiet,
    timeout: processWithinMs,
    killSignal: "SIGKILL",
  });
  const exitCode = await child.exited;
  const ms = performance.now() - startedAt;
  if (exitCode !== 0) throw new Error(`${command.join(" ")} ended with ${exitCode}`);
  return ms;
}

/** The median of a list that is not empty. */
export function median(values: number[]): number {
  const sorted = sortedNumbers(values);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** The smallest value that at least `share` (0 to 1) of the values do not exceed. */
export function percentile(values: number[], share: number): number {
  return sortedNumbers(values)[Math.max(0, Math.ceil(values.length * share) - 1)]!;
}

/** The slope of the line that fits the points best. */
export function slope(points: { x: number; y: number }[]): number {
  const mean = (pick: (point: { x: number; y: number }) => number) =>
    points.reduce((sum, point) => sum + pick(point), 0) / points.length;
  const [x, y] = [mean((point) => point.x), mean((point) => point.y)];
  const above = points.reduce((sum, point) => sum + (point.x - x) * (point.y - y), 0);
  return above / points.reduce((sum, point) => sum + (point.x - x) ** 2, 0);
}

export const hasProc = process.platform === "linux";

/** Resident size in MB: the current one (`VmRSS`), or the highest so far (`VmHWM`). Requires /proc. */
export function residentMb(pid: number, what: "VmRSS" | "VmHWM" = "VmRSS"): number {
  const kilobytes = new RegExp(`^${what}:\\s+(\\d+)`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  if (kilobytes === undefined) throw new Error(`/proc/${pid}/status has no ${what}`);
  return Number(kilobytes) / 1_024;
}

/** Memory in MB that the process shares with no other process and that no file contains. Requires /proc. */
export function privateMb(pid: number): number {
  const kilobytes = /^Private_Dirty:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1];
  if (kilobytes === undefined) throw new Error(`/proc/${pid}/smaps_rollup has no Private_Dirty`);
  return Number(kilobytes) / 1_024;
}

function sortedNumbers(values: number[]): number[] {
  return [...values].sort((a, b) => a - b);
}
