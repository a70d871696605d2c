/** Collects calls, and writes them into the call log in batches, off the path of the calls. It never fails. */
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { dayMs, hourMs } from "../../base/units.ts";
import type { StoredCall } from "../../store/call-log.ts";
import type { Store } from "../../store/store.ts";
import { newId } from "../trace/id.ts";

/** Delay before calls are written. A process that is killed loses at most the calls of this time. */
const callsAfterMs = 1_000;

/** Calls of one write: some milliseconds of the thread for the file of one user. */
const maxCallsPerWrite = 200;

/** Calls that wait while the database is away: some 10 MB. Further ones are counted, and the log says so. */
const maxWaitingCalls = 20_000;

/** How often calls are removed that are too old. */
const callLogTidyMs = hourMs;

/** A call that has ended, before it has an id. */
export type EndedCall = Omit<StoredCall, "id" | "config">;

export interface CallLogOptions {
  /** Undefined if no calls are kept. */
  store: Store | undefined;
  /** The config file; null for the demo. */
  config: string | null;
  keepDays: number;
  /** Sends calls to the receivers of telemetry. */
  send: ((call: StoredCall) => void) | undefined;
  log: Log;
}

export class CallLog {
  readonly #options: CallLogOptions;
  #waiting: EndedCall[] = [];
  #lost = 0;
  #isFailing = false;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  #tidiedAt = Number.NEGATIVE_INFINITY;

  constructor(options: CallLogOptions) {
    this.#options = options;
  }

  /** Whether anybody hears of calls. */
  get isOn(): boolean {
    return this.#options.store !== undefined || this.#options.send !== undefined;
  }

  add(call: EndedCall): void {
    if (this.#waiting.length >= maxWaitingCalls) this.#lost += 1;
    else this.#waiting.push(call);
    this.#timer ??= setTimeout(() => void this.#write(), callsAfterMs).unref();
  }

  /** Writes the rest. Never rejects. */
  async end(): Promise<void> {
    await this.#write();
    // Calls that came while others were written.
    if (this.#waiting.length > 0) await this.#write();
  }

  #write(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined;
    });
    return this.#writing;
  }

  async #writeAll(): Promise<void> {
    // Without calls, no database is made.
    if (this.#waiting.length === 0) return;
    const { store, send, log } = this.#options;
    try {
      while (this.#waiting.length > 0) {
        const calls = this.#stored(this.#waiting.slice(0, maxCallsPerWrite));
        await store?.callLog.add(calls);
        this.#waiting.splice(0, calls.length);
        if (send) for (const call of calls) send(call);
      }
      if (this.#lost > 0)
        log.warn(`${this.#lost} calls are missing in the call log: the database was away for too long`);
      this.#lost = 0;
      this.#isFailing = false;
      await this.#tidy();
    } catch (error) {
      // It is logged once, because a database that is away fails every second.
      log[this.#isFailing ? "debug" : "warn"](`Cannot write the call log: ${messageOf(error)}`);
      this.#isFailing = true;
      this.#timer ??= setTimeout(() => void this.#write(), callsAfterMs).unref();
    }
  }

  /** One new id for calls that are written together, with a number that keeps their order in texts. */
  #stored(calls: readonly EndedCall[]): StoredCall[] {
    const { config } = this.#options;
    const id = newId(calls[0]!.at);
    return calls.map((call, number) => Object.assign(call, { id: `${id}-${String(number).padStart(3, "0")}`, config }));
  }

  async #tidy(): Promise<void> {
    const { store, config, keepDays } = this.#options;
    if (!store || performance.now() < this.#tidiedAt + callLogTidyMs) return;
    this.#tidiedAt = performance.now();
    if (await store.mayTidy("calls")) await store.callLog.tidy(config, Date.now() - keepDays * dayMs);
  }
}
