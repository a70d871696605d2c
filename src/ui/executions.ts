/** The executions of one config as the page lists them: those that are stored, and those that were recorded. */

import type { Environment } from "../config/environment.ts";
import { executionsFolder, storeFile } from "../config/locations.ts";
import { eventLoopTurn } from "../event-loop.ts";
import type { Executions } from "../execution/executions.ts";
import { stampOf } from "../files.ts";
import { configOwner } from "../logs/place.ts";
import type { BriefExecution } from "../store/executions.ts";
import type { Toolbox } from "../toolbox/toolbox.ts";
import type { Summary } from "../trace/record.ts";
import { keptOut, outcomeWord } from "../trace/record-text.ts";
import { readSummaries } from "../trace/store.ts";
import { Cached, databaseStamp } from "./cached.ts";
import type { Execution } from "./contract.ts";

const maxListed = 100;

/** Characters of a program. */
const maxCode = 200;

export class ExecutionsReader {
  readonly #toolbox: Toolbox;
  readonly #env: Environment;
  readonly #recorded = new Cached<Execution[]>();
  /** What was read of records, which never change, by their ids. */
  #summaries: ReadonlyMap<string, Summary> = new Map();
  /** The beginnings of stored programs by their ids. */
  #codes = new Map<string, string>();
  readonly #stored = new Cached<Promise<Execution[]>>();

  constructor(toolbox: Toolbox, env: Environment) {
    this.#toolbox = toolbox;
    this.#env = env;
  }

  /** Those that run or wait first, then the newest. `asking` are the executions that wait for approval. */
  async read(asking: ReadonlySet<string>): Promise<Execution[]> {
    const recorded = this.#recorded.get(stampOf(executionsFolder(this.#env)), () => this.#readRecorded());
    const stamp = databaseStamp(storeFile(this.#env), performance.now());
    const known = new Set(recorded.map(({ id }) => id));
    const stored = (await this.#stored.get(stamp, () => this.#readStored())).filter(({ id }) => !known.has(id));
    const waiting = stored.map((each) =>
      asking.has(each.id) && each.state === "running"
        ? { ...each, state: "waiting" as const, waits: "approval" as const }
        : each,
    );
    const isOver = ({ state }: Execution) => state === "ended";
    return [...waiting.filter((each) => !isOver(each)), ...newestFirst([...waiting.filter(isOver), ...recorded])].slice(
      0,
      maxListed,
    );
  }

  #readRecorded(): Execution[] {
    const owner = configOwner(this.#toolbox.config.origin);
    try {
      const summaries = readSummaries(executionsFolder(this.#env), this.#summaries);
      this.#summaries = new Map(summaries.map((each) => [each.id, each]));
      return summaries
        .filter(({ config }) => config === owner)
        .slice(0, maxListed)
        .map(recorded);
    } catch {
      // Records that cannot be read are none.
      return [];
    }
  }

  async #readStored(): Promise<Execution[]> {
    try {
      const executions = await this.#toolbox.executions();
      const rows = await executions.stored.newest(maxListed, this.#toolbox);
      const codes = new Map<string, string>();
      for (const { id } of rows) codes.set(id, this.#codes.get(id) ?? (await this.#codeOf(id, executions)));
      this.#codes = codes;
      return await Promise.all(rows.map((row) => stored(row, codes.get(row.id) ?? "", executions)));
    } catch {
      // The store may belong to a newer claudikins.
      return [];
    }
  }

  /** Programs may be long, so each is read in a turn of its own. */
  async #codeOf(id: string, executions: Executions): Promise<string> {
    await eventLoopTurn();
    return executions.stored.beginningOf(id, maxCode, this.#toolbox);
  }
}

function newestFirst(executions: Execution[]): Execution[] {
  return executions.sort((one, other) => other.startedAt - one.startedAt);
}

function recorded(summary: Summary): Execution {
  const { id, ok, door, at, durationMs, calls, failures } = summary;
  return {
    id,
    state: "ended",
    outcome: outcomeWord(summary),
    ok,
    door,
    startedAt: at,
    durationMs,
    calls,
    failures,
    keptOut: keptOut(summary),
    isRecorded: true,
  };
}

async function stored(row: BriefExecution, code: string, executions: Executions): Promise<Execution> {
  const { id, startedAt, changedAt } = row;
  const common = { id, startedAt, code, isRecorded: false };
  const progress = await executions.progressOf(row);
  switch (progress.state) {
    case "asleep":
      return { ...common, state: "waiting", waits: progress.until };
    case "stopped":
      return { ...common, state: "waiting", waits: "process" };
    case "lost":
      return { ...common, state: "ended", ok: false, outcome: "lost" };
    case "ended":
      return {
        ...common,
        state: "ended",
        ok: progress.ok,
        outcome: progress.ok ? "ok" : "failed",
        durationMs: changedAt - startedAt,
      };
    default:
      return { ...common, state: "running" };
  }
}
