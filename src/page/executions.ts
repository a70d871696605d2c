/** Lists the stored and recorded executions of one config for the page. */

import type { App } from "../app/app.ts";
import { eventLoopTurn } from "../base/event-loop.ts";
import { kindOf, stateText } from "../programs/execution/execution-state.ts";
import type { Executions } from "../programs/execution/executions.ts";
import {
  joined,
  type ListedExecution,
  storedExecution,
  withApprovals,
} from "../programs/execution/listed-executions.ts";
import type { AboutProgram } from "../programs/execution/stored-executions.ts";
import { keptOut } from "../programs/outcome-text.ts";
import type { Summary } from "../programs/trace/record.ts";
import { readSummaries } from "../programs/trace/store.ts";
import { configOwner } from "../servers/logs/place.ts";
import { Cached, storeStamp } from "./cached.ts";
import type { PageExecution, PageRun } from "./contract.ts";

/** Executions in the list. */
const maxShownExecutions = 100;

/** Runs of a saved program. */
const maxShownRuns = 5;

/** Characters of a program in the list. */
const maxShownCodeChars = 200;

export interface ReadExecutions {
  shown: PageExecution[];
  /** The newest runs of a saved program. */
  runsOf(program: string, door: string | undefined): PageRun[];
  /** Whether an execution has a page of its own. */
  isRecorded(id: string): boolean;
}

export class ExecutionsReader {
  readonly #app: App;
  readonly #recorded = new Cached<Promise<Summary[]>>();
  /** The facts read from stored programs, by their ids. */
  #programs = new Map<string, AboutProgram>();
  readonly #stored = new Cached<Promise<ListedExecution[]>>();

  constructor(app: App) {
    this.#app = app;
  }

  /** Executions that run or wait come first, then the newest. `asking` has the open approvals of all executions. */
  async read(
    asking: readonly { id: string; execution: string }[],
    isSeen: (execution: ListedExecution) => boolean = () => true,
  ): Promise<ReadExecutions> {
    const stamp = await storeStamp(this.#app.store, performance.now());
    const recorded = await this.#recorded.get(stamp, () => this.#readRecorded());
    const stored = withApprovals(await this.#stored.get(stamp, () => this.#readStored()), asking);
    const kept = new Set(stored.filter(({ state }) => state.state === "ended" && state.ok).map(({ id }) => id));
    const all = joined(stored, recorded).filter(isSeen);
    const runs = all.filter(({ program }) => program !== undefined);
    const ofPrograms = Map.groupBy(runs, ({ program = "", door }) => programKey(program, door));
    return {
      shown: all.slice(0, maxShownExecutions).map((each) => shown(each, kept.has(each.id))),
      runsOf: (name, door) => (ofPrograms.get(programKey(name, door)) ?? []).slice(0, maxShownRuns).map(runOf),
      isRecorded: (id) => recorded.some((each) => each.id === id),
    };
  }

  async #readRecorded(): Promise<Summary[]> {
    const owner = configOwner(this.#app.config.origin);
    try {
      const summaries = await readSummaries(this.#app.store);
      return summaries.filter(({ config }) => config === owner);
    } catch {
      // Unreadable records are treated as missing.
      return [];
    }
  }

  async #readStored(): Promise<ListedExecution[]> {
    try {
      const executions = await this.#app.executions();
      const rows = await executions.stored.newest(maxShownExecutions, this.#app);
      const programs = new Map<string, AboutProgram>();
      for (const { id } of rows) programs.set(id, this.#programs.get(id) ?? (await this.#programOf(id, executions)));
      this.#programs = programs;
      return await Promise.all(rows.map((row) => storedExecution(row, programs.get(row.id)!, executions)));
    } catch {
      // The store may belong to a newer claudikins.
      return [];
    }
  }

  /** Reads a stored program. Programs may be long, so each is read in a separate turn of the event loop. */
  async #programOf(id: string, executions: Executions): Promise<AboutProgram> {
    await eventLoopTurn();
    return executions.stored.aboutProgram(id, maxShownCodeChars, this.#app);
  }
}

function shown(execution: ListedExecution, isKept: boolean): PageExecution {
  const { startedBy, code, door, person, program, summary } = execution;
  return {
    ...runOf(execution),
    startedBy,
    door,
    person: person?.name,
    code,
    calls: summary?.calls,
    failures: summary?.failures,
    keptOut: summary && keptOut(summary),
    canBeSaved: program === undefined && (isKept || (summary?.ok === true && summary.hasContents)),
  };
}

function runOf({ id, state, startedAt, durationMs, summary }: ListedExecution): PageRun {
  return {
    id,
    kind: kindOf(state),
    stateText: stateText(state),
    isOver: state.state === "ended" || state.state === "lost",
    startedAt,
    durationMs,
    isRecorded: summary !== undefined,
  };
}

function programKey(name: string, door: string | undefined): string {
  return JSON.stringify([name, door ?? null]);
}
