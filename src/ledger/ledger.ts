/** What this process counts, and writes down now and then: never in the way of an answer, and never a reason to fail. */
import { messageOf } from "../errors.ts";
import type { Log } from "../log.ts";
import { Counts, type Sums, type ToolUse } from "./counts.ts";
import { appendCounts, foldLedger } from "./store.ts";

/** A crash loses what was counted for so long. */
const writeAfterMs = 2_000;

export interface LedgerOptions {
  /** Of the user's data; undefined where nothing is to be counted. */
  folder: string | undefined;
  log: Log;
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

  called(server: string, tool: string, use: ToolUse): void {
    this.#counts()?.addUse(server, tool, use);
  }

  found(hook: string): void {
    this.#counts()?.addHook(hook, 1);
  }

  /** Counts something that takes a moment: not now, but before anything is written the next time. */
  later(count: () => void): void {
    if (!this.#counts()) return;
    this.#later.push(count);
  }

  /** Writes what is left. Nothing is counted afterwards. Never rejects. */
  async end(): Promise<void> {
    this.#write();
    await this.#folding;
  }

  #counts(): Counts | undefined {
    if (this.#options.folder === undefined) return undefined;
    this.#timer ??= setTimeout(() => this.#write(), writeAfterMs);
    this.#timer.unref();
    return this.#unwritten;
  }

  /** What cannot be written is tried again with what is counted next. */
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

  /** Once an hour, by whoever is the first to count something in it. */
  async #fold(folder: string, now: Date): Promise<void> {
    try {
      await foldLedger(folder, now);
    } catch (error) {
      this.#options.log.debug(`Cannot compact the ledger: ${messageOf(error)}`);
    }
  }
}
