/** Counts in this process and writes the counts from time to time. It never delays an answer and never fails. */
import { existsSync } from "node:fs";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { countsAfterMs } from "../limits.ts";
import { type CountedUse, Counts, type Sums } from "./counts.ts";
import { appendCounts, foldLedger, readCounts, utcDayOf } from "./store.ts";
import { toolWeights } from "./tool-weights.ts";

interface LedgerOptions {
  /** The folder for the counts; undefined if nothing is counted. */
  folder: string | undefined;
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
  readonly #later: (() => void)[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #folding: Promise<void> = Promise.resolve();

  constructor(options: LedgerOptions) {
    this.#options = options;
  }

  get isOn(): boolean {
    return this.#options.folder !== undefined;
  }

  add(sums: Partial<Sums>): void {
    this.#counts()?.addSums(sums);
  }

  /** Counts a call. `entry` is the key of the server's entry, if it is a tool of a server in the config. */
  called({ server, tool, entry }: CalledTool, use: CountedUse): void {
    const counts = this.#counts();
    counts?.addUse(server, tool, use);
    if (entry !== undefined) counts?.addEntryUse(entry, tool, use);
  }

  found(hook: string): void {
    this.#counts()?.addHook(hook, 1);
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
  weightsOf(servers: ReadonlyMap<string, string>, now = new Date()): Map<string, Map<string, number>> {
    const { folder, log } = this.#options;
    // An error for a missing folder would take milliseconds of the start.
    if (folder === undefined || !existsSync(folder)) return new Map();
    try {
      const { periods } = readCounts(folder, utcDayOf);
      return new Map([...servers].map(([server, entry]) => [server, toolWeights(periods, entry, now)]));
    } catch (error) {
      log.debug(`Cannot read the ledger: ${messageOf(error)}`);
      return new Map();
    }
  }

  /** Writes the remaining counts and stops counting. Never rejects. */
  async end(): Promise<void> {
    this.#write();
    await this.#folding;
  }

  #counts(): Counts | undefined {
    if (this.#options.folder === undefined) return undefined;
    this.#timer ??= setTimeout(() => this.#write(), countsAfterMs);
    this.#timer.unref();
    return this.#unwritten;
  }

  /** Counts that cannot be written are kept for the next write. */
  #write(): void {
    const { folder, log } = this.#options;
    if (folder === undefined) return;
    for (const count of this.#later.splice(0)) count();
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#unwritten.isEmpty) return;
    try {
      const now = new Date();
      const isFirst = appendCounts(folder, this.#unwritten, now);
      this.#unwritten = new Counts();
      if (isFirst) this.#folding = this.#folding.then(() => this.#fold(folder, now));
    } catch (error) {
      log.debug(`Cannot write the ledger: ${messageOf(error)}`);
    }
  }

  /** Sums up old hours: done once an hour by the first process that counts. */
  async #fold(folder: string, now: Date): Promise<void> {
    try {
      await foldLedger(folder, now);
    } catch (error) {
      this.#options.log.debug(`Cannot compact the ledger: ${messageOf(error)}`);
    }
  }
}
