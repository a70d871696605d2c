/** What the ledger says, for the chart of the page. */
import { join } from "node:path";
import { messageOf } from "../base/errors.ts";
import { namesIn, stampOf } from "../base/files.ts";
import { statisticsOf } from "../programs/ledger/statistics.ts";
import { readCounts } from "../programs/ledger/store.ts";
import { defaultDays } from "../programs/limits.ts";
import { Cached } from "./cached.ts";
import type { Savings } from "./contract.ts";
import { maxSavingsTools } from "./limits.ts";

export class SavingsReader {
  readonly #folder: string;
  readonly #cached = new Cached<Savings>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  read(now = new Date()): Savings {
    const files = namesIn(this.#folder).map((name) => stampOf(join(this.#folder, name)));
    return this.#cached.get(`${now.toDateString()}\n${files.join("\n")}`, () => this.#read(now));
  }

  #read(now: Date): Savings {
    const { periods, problems } = this.#counts();
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

  #counts(): ReturnType<typeof readCounts> {
    try {
      return readCounts(this.#folder);
    } catch (error) {
      return { periods: new Map(), problems: [messageOf(error)] };
    }
  }
}
