/** Reads the ledger for the chart of the page. */
import { messageOf } from "../base/errors.ts";
import { statisticsOf } from "../programs/ledger/statistics.ts";
import { readCounts } from "../programs/ledger/store.ts";
import { defaultDays } from "../programs/limits.ts";
import type { Store } from "../store/store.ts";
import { Cached, storeStamp } from "./cached.ts";
import type { Savings } from "./contract.ts";

/** Tools in the chart of calls. */
const maxSavingsTools = 12;

/** The empty answer for people who may not see the ledger. */
export const noSavings: Savings = {
  days: [],
  keptOut: 0,
  without: 0,
  with: 0,
  sessions: 0,
  executions: 0,
  shellExecutions: 0,
  searches: 0,
  calls: 0,
  failures: 0,
  tools: [],
  problems: [],
};

export class SavingsReader {
  readonly #store: Store;
  readonly #cached = new Cached<Promise<Savings>>();

  constructor(store: Store) {
    this.#store = store;
  }

  async read(now = new Date()): Promise<Savings> {
    const stamp = await storeStamp(this.#store, performance.now());
    return this.#cached.get(`${now.toDateString()}\n${stamp}`, () => this.#read(now));
  }

  async #read(now: Date): Promise<Savings> {
    const { periods, problems } = await this.#counts();
    const { total, periods: all, tools } = statisticsOf(periods, { days: defaultDays, now });
    const { sessions, executions, shellExecutions, searches, calls, failures, tokens } = total;
    return {
      days: all.map(({ period, tokens, calls }) => ({ day: period, keptOut: tokens.keptOut, calls })),
      keptOut: tokens.keptOut,
      without: tokens.all.without,
      with: tokens.all.with,
      sessions,
      executions,
      shellExecutions,
      searches,
      calls,
      failures,
      tools: tools.slice(0, maxSavingsTools).map(({ server, tool, calls, failures, durationMs }) => ({
        server,
        tool,
        calls,
        failures,
        durationMs,
      })),
      problems,
    };
  }

  async #counts(): ReturnType<typeof readCounts> {
    try {
      return await readCounts(this.#store);
    } catch (error) {
      return { periods: new Map(), problems: [messageOf(error)] };
    }
  }
}
