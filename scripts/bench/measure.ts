/** Times and sizes: contestants in turn, so that a machine whose speed drifts drifts for all of them. */
import { readFileSync } from "node:fs";

/** One measurement, in milliseconds. Throws where what is measured fails: a figure of a failure is no figure. */
export type Contestant = () => Promise<number>;

/** `ours` first, and what stands beside it by name. */
export type Contestants = { ours: Contestant } & Record<string, Contestant>;
export type Times = { ours: number[] } & Record<string, number[]>;

/** How many rounds there are: more than the least only while a ratio is not known well. */
export interface Rounds {
  least: number;
  most: number;
  /** No further round is begun after this time, when there are the least. */
  withinMs?: number;
}

/** A ratio is known when its median lies within this share of itself, see `spreadOf`. */
const knownWithin = 0.05;

/** Who takes less than this share of a round goes so often in each: always the same, since in a row all are quicker. */
const quickShare = 1 / 30;
const quickRuns = 5;

/** Two rounds go before instead of one where they take no longer: the first one starts what the others find. */
const shortMs = 3_000;

/**
 * What each contestant took, in the order of the rounds. One round more goes before, and does not count. `repeat` says how
 * often a contestant goes in each; where it does not, and the rounds have an end in time, those that are quick beside the
 * others go more often, since one of them says less.
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

/** The mean of so many in a row. */
export async function meanOf(times: number, measure: Contestant): Promise<number> {
  let ms = 0;
  for (let time = 0; time < times; time++) ms += await measure();
  return ms / times;
}

/** Runs each of them for a while: engines compile what runs often, and are quicker by half when they have. */
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

/** By what each took in all, with what it does before and after what it times. */
function repeatsIn(wholeMs: Record<string, number>): (name: string) => number {
  const roundMs = Object.values(wholeMs).reduce((sum, ms) => sum + ms, 0);
  return (name) => (wholeMs[name]! < roundMs * quickShare ? quickRuns : 1);
}

export const exactly = (rounds: number): Rounds => ({ least: rounds, most: rounds });

function isKnown({ ours, ...others }: Times): boolean {
  const lists = Object.values(others).map((values) => ratiosOf(ours, values));
  return (lists.length === 0 ? [ours] : lists).every((values) => (spreadOf(values) ?? 1) <= knownWithin);
}

/** The median of the ratios of neighbours; below 1 the first ones are smaller. */
export function ratioOf(ours: number[], others: number[]): number {
  return median(ratiosOf(ours, others));
}

/** The ratios of what was measured beside each other. Where one goes more often in a round, by the medians of its rounds. */
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
 * How well the median of these values is known: half of the interval in which it lies with a probability of 95 per cent,
 * by the ranks of the values, as a share of the median. Fewer than five say less (of three, it is 75), fewer than three nothing.
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

/** No process of the bench takes so long: one that has not ended then never will. */
const processWithinMs = 60_000;

/** Wall time from start to exit. */
export async function processMs(command: string[], cwd: string): Promise<number> {
  const startedAt = performance.now();
  const quiet = { stdin: "ignore", stdout: "ignore", stderr: "ignore" } as const;
  const child = Bun.spawn(command, { cwd, ...quiet, timeout: processWithinMs, killSignal: "SIGKILL" });
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
