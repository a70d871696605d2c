/** Counts in this process and writes the counts from time to time. It never fails. */
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { dayMs } from "../../base/units.ts";
import type { Store } from "../../store/store.ts";
import { type CountedUse, Counts, type EntryUse, type Sums } from "./counts.ts";
import { addCounts, type Periods, readCounts, utcDayOf } from "./store.ts";

/** Delay before counts are written. A crash loses at most the counts of this time. */
const countsAfterMs = 2_000;

/** After this time, a use of a tool counts half. */
const halfLifeDays = 14;

interface LedgerOptions {
  /** Where the counts are kept; undefined if nothing is counted. */
  store: Store | undefined;
  log: Log;
}

/** The own names of a server and its tool, and the key of the server's entry. */
export interface CalledTool {
  server: string;
  tool: string;
  entry?: string | undefined;
}

export class Ledger {
  readonly #options: LedgerOptions;
  #unwritten = new Counts();
  /** What was written since somebody wanted to know it, and what is being written. */
  #written: Counts | undefined;
  #inWriting: Counts | undefined;
  readonly #later: (() => void)[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(options: LedgerOptions) {
    this.#options = options;
  }

  get isOn(): boolean {
    return this.#options.store !== undefined;
  }

  add(sums: Partial<Sums>): void {
    this.#counts()?.addSums(sums);
  }

  /** Counts a call. `entry` is the key of the server's entry, if it is a tool of a server in the config. */
  called({ server, tool, entry }: CalledTool, use: CountedUse): void {
    const counts = this.#counts();
    counts?.addUse(server, tool, use);
    if (entry !== undefined)
      counts?.addEntryUse(entry, tool, { calls: use.calls, failures: use.failures + use.denied });
  }

  found(hook: string): void {
    this.#counts()?.addHook(hook, 1);
  }

  /** Returns a function that says everything that was counted since the process started. Call it then. */
  total(): () => Counts {
    this.#written ??= new Counts();
    return () => {
      for (const count of this.#later.splice(0)) count();
      const all = new Counts();
      for (const each of [this.#written, this.#inWriting, this.#unwritten]) if (each) all.add(each);
      return all;
    };
  }

  /** Defers a slow count until the next write. */
  later(count: () => void): void {
    if (!this.#counts()) return;
    this.#later.push(count);
  }

  /**
   * The weights of tools that were called before, by server and tool, for servers with the keys of their entries. Empty if nothing is
   * counted or the counts cannot be read.
   */
  async weightsOf(servers: ReadonlyMap<string, string>, now = new Date()): Promise<Map<string, Map<string, number>>> {
    const { store, log } = this.#options;
    if (!store) return new Map();
    try {
      const { periods } = await readCounts(store, utcDayOf);
      return new Map([...servers].map(([server, entry]) => [server, toolWeights(periods, entry, now)]));
    } catch (error) {
      log.debug(`Cannot read the ledger: ${messageOf(error)}`);
      return new Map();
    }
  }

  /** Writes the remaining counts and stops counting. Never rejects. */
  async end(): Promise<void> {
    this.#write();
    await this.#writing;
  }

  #counts(): Counts | undefined {
    if (this.#options.store === undefined) return undefined;
    this.#timer ??= setTimeout(() => this.#write(), countsAfterMs);
    this.#timer.unref();
    return this.#unwritten;
  }

  #write(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing = this.#writing.then(() => this.#writeNow());
  }

  /** Counts that cannot be written are kept for the next write. */
  async #writeNow(): Promise<void> {
    const { store, log } = this.#options;
    if (!store) return;
    for (const count of this.#later.splice(0)) count();
    const counts = this.#unwritten;
    if (counts.isEmpty) return;
    this.#unwritten = new Counts();
    this.#inWriting = counts;
    try {
      await addCounts(store, counts, new Date());
      this.#written?.add(counts);
    } catch (error) {
      this.#unwritten.add(counts);
      log.debug(`Cannot write the ledger: ${messageOf(error)}`);
    } finally {
      this.#inWriting = undefined;
    }
  }
}

/**
 * The weight of each tool of a server's entry that was called with success, by name. Recent uses count more, and each doubling of the calls
 * of a day counts as much as the one before. Past weeks are counted if there are any, else past days, else today: so the weights of a
 * tool in use change once a week.
 */
export function toolWeights(periods: Periods, entry: string, now: Date): Map<string, number> {
  const uses = [...periods].flatMap(([period, { entries }]) => [...(entries.get(entry) ?? [])].map(useIn(period)));
  const end = [mondayOf(now), utcDayOf(now)].find((day) => uses.some(({ period }) => period < day));
  const weights = new Map<string, number>();
  for (const { period, tool, successes } of uses) {
    if (successes <= 0 || (end !== undefined && period >= end)) continue;
    const age = end === undefined ? 0 : (Date.parse(end) - Date.parse(lastDayOf(period))) / dayMs;
    const weight = Math.log2(1 + successes) * 0.5 ** (age / halfLifeDays);
    weights.set(tool, (weights.get(tool) ?? 0) + weight);
  }
  return weights;
}

const useIn =
  (period: string) =>
  ([tool, { calls, failures }]: [string, EntryUse]) => ({ period, tool, successes: calls - failures });

/** The Monday of a date's week, in UTC. */
function mondayOf(date: Date): string {
  const daysAgo = (date.getUTCDay() + 6) % 7;
  return utcDayOf(new Date(date.getTime() - daysAgo * dayMs));
}

/** The day of a period that is a day; a late day of a month or a year. */
function lastDayOf(period: string): string {
  return period + ["-12-28", "-28", ""][period.split("-").length - 1];
}
