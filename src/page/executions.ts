/** Lists the stored and recorded executions of one config for the page. */

import type { App } from "../app/app.ts";
import { eventLoopTurn } from "../base/event-loop.ts";
import { homeOf } from "../config/locations.ts";
import { activityState, endStatesIn, fits, inOrder, titleOf } from "../programs/execution/activity.ts";
import { kindOf, stateText } from "../programs/execution/execution-state.ts";
import type { Executions } from "../programs/execution/executions.ts";
import {
  isOpen,
  joined,
  type ListedExecution,
  storedExecution,
  withApprovals,
} from "../programs/execution/listed-executions.ts";
import type { AboutProgram } from "../programs/execution/stored-executions.ts";
import { keptOut } from "../programs/outcome-text.ts";
import { timeOf } from "../programs/trace/id.ts";
import type { Summary } from "../programs/trace/record.ts";
import { readActivity, readRuns } from "../programs/trace/store.ts";
import { configOwner } from "../servers/logs/place.ts";
import type { ActivityFilter, ActivityOrder, Facets } from "../store/activity.ts";
import type { PageActivity, PageExecution } from "./activity-contract.ts";
import { Cached, storeStamp } from "./cached.ts";
import type { PageRun } from "./programs-contract.ts";

/** Ended executions that the page gets with each change. */
const maxRecentExecutions = 20;

/** Executions of one page of the whole list. */
const activityPageSize = 100;

/** Stored executions that are looked at: those that run or wait, and others that have no record. */
const maxReadStored = 100;

/** Runs of a saved program. */
const maxShownRuns = 5;

/** Characters of a program from which the list takes its first line. */
const maxShownCodeChars = 200;

/**
 * How long the newest runs of programs, and the agents and doors of a list, are taken as they were read: they are looked for among all records,
 * in 8 and 19 ms for 10,000.
 */
const [runsFreshMs, facetsFreshMs] = [2_000, 10_000];

/** Tools of one execution in a list. */
const maxShownTools = 6;

export interface ReadExecutions {
  shown: PageExecution[];
  /** The newest runs of a saved program. */
  runsOf(program: string, door: string | undefined): PageRun[];
}

/** The part of a list that is asked for. */
export interface AskedRows {
  /** The rows after the execution with this id. */
  after: string | undefined;
  order: ActivityOrder;
  /** Default: those of one page. */
  rows?: number | undefined;
}

type Asking = readonly { id: string; execution: string }[];

export class ExecutionsReader {
  readonly #app: App;
  readonly #asks: string;
  /** By person; undefined for all people. */
  readonly #recent = new Cached<Map<string | undefined, Promise<Summary[]>>>();
  /** The newest of each saved program. */
  readonly #runs = new Cached<Promise<Summary[]>>();
  /** By person. */
  readonly #facets = new Cached<Map<string | undefined, Promise<Facets>>>();
  /** The facts read from stored programs, by their ids. */
  #programs = new Map<string, AboutProgram>();
  readonly #stored = new Cached<Promise<ListedExecution[]>>();

  /** `asks` says that an execution waits for a decision: of the viewer, or of somebody. */
  constructor(app: App, asks: "waits for you" | "waits for approval" = "waits for you") {
    this.#app = app;
    this.#asks = asks;
  }

  /** Executions that run or wait come first, then the newest. `asking` has the open approvals of all executions. */
  async read(asking: Asking, person?: string): Promise<ReadExecutions> {
    const stamp = await storeStamp(this.#app.store, performance.now());
    const known = this.#recent.get(stamp, () => new Map());
    const recent = await known.getOrInsertComputed(person, () => this.#readRecent(person));
    const runs = person === undefined ? await this.#runs.get(turnOf(runsFreshMs), () => this.#readRuns()) : [];
    const stored = (await this.#storedNow(asking)).filter((each) => person === undefined || each.person?.id === person);
    const open = stored.filter(isOpen).length;
    const all = await this.#withoutRecorded(stored, recent);
    // The runs of the last seconds are among the newest executions.
    const newer = recent.filter(({ id, program }) => program !== undefined && !runs.some((each) => each.id === id));
    const ofPrograms = Map.groupBy(
      inOrder(joined(stored, person === undefined ? [...newer, ...runs] : [])).filter(
        ({ program }) => program !== undefined,
      ),
      ({ program = "", door }) => programKey(program, door),
    );
    return {
      shown: inOrder(joined(all, recent))
        .slice(0, open + maxRecentExecutions)
        .map((each) => this.shown(each, stored)),
      runsOf: (name, door) =>
        (ofPrograms.get(programKey(name, door)) ?? []).slice(0, maxShownRuns).map((each) => this.#run(each)),
    };
  }

  /** One page of the executions that fit. The first one has all that run or wait. `filter.config` is ours. */
  async activity(
    filter: ActivityFilter,
    { after, order, rows = activityPageSize }: AskedRows,
    asking: Asking,
  ): Promise<PageActivity> {
    const own = { ...filter, config: this.#owner };
    const states = endStatesIn(filter.states);
    const { store } = this.#app;
    const found = await readActivity(store, { ...own, states }, { limit: rows + 1, after, order });
    const page = found.slice(0, rows);
    const next = found.length > page.length ? page.at(-1)!.id : undefined;
    const stored = await this.#storedNow(asking);
    // Those without a record have a place among the newest only. In another order they are on the first page.
    const isHere = ({ id }: ListedExecution) =>
      order === "newest" ? (after === undefined || id < after) && (next ?? "") < id : after === undefined;
    const others = stored.filter((each) => !isOpen(each) && fits(each, own) && isHere(each));
    const unrecorded = await this.#withoutRecorded(others, page);
    const facets = await this.#facetsOf(filter.person);
    // A record may be of an execution that goes on. It is listed as open.
    const listed = inOrder(joined([...unrecorded, ...stored.filter(isOpen)], page), order).filter(
      (each) => !isOpen(each) || (after === undefined && fits(each, own)),
    );
    const agents = withThese(facets.agents, page, ({ agent }) => agent);
    const doors = withThese(facets.doors, page, ({ door }) => door);
    const people = await this.#peopleOf(facets.people, page);
    return { executions: listed.map((each) => this.shown(each, stored)), next, agents, doors, people };
  }

  /** The people by their names. A person who was deleted keeps the name of a record on this page, or the id. */
  async #peopleOf(ids: readonly string[], page: readonly Summary[]): Promise<PageActivity["people"]> {
    const onPage = page.flatMap(({ person }) => person ?? []);
    const all = withThese(ids, page, ({ person }) => person?.id);
    if (all.length === 0) return [];
    const names = new Map([...onPage, ...(await this.#app.store.people.list())].map(({ id, name }) => [id, name]));
    return all.map((id) => ({ id, name: names.get(id) || id })).sort((one, other) => (one.name < other.name ? -1 : 1));
  }

  /** One execution of the config. */
  async find(id: string, asking: Asking, summary: Summary | undefined): Promise<ListedExecution | undefined> {
    const stored = (await this.#storedNow(asking)).filter((each) => each.id === id);
    return joined(stored, summary ? [summary] : []).find((each) => each.config === this.#owner);
  }

  /** `stored` has the executions whose code is kept. */
  shown(execution: ListedExecution, stored: readonly ListedExecution[]): PageExecution {
    const { startedBy, door, person, program, repeats, session, agent, folder, summary, state } = execution;
    const isKept = stored.some(({ id, state: own }) => id === execution.id && own.state === "ended" && own.ok);
    return {
      ...this.#run(execution),
      until: isOpen(execution) ? state.until : undefined,
      isDryRun: state.dryRun === true,
      title: titleOf(execution),
      startedBy,
      agent,
      session,
      folder: folder === undefined ? undefined : inHome(folder, homeOf(this.#app.env)),
      door,
      person: person?.name,
      program,
      repeats: repeats === undefined ? undefined : { id: repeats, at: timeOf(repeats) },
      calls: summary?.calls,
      failures: summary && summary.failures - (summary.denied ?? 0),
      denied: summary?.denied,
      tools: (summary?.tools ?? []).slice(0, maxShownTools),
      keptOut: summary && keptOut(summary),
      canBeSaved: program === undefined && (isKept || (summary?.ok === true && summary.hasContents)),
    };
  }

  #run(execution: ListedExecution): PageRun {
    const { id, state, startedAt, durationMs } = execution;
    const words = state.approvals.length > 0 && isOpen(execution) ? this.#asks : wordsOf(execution);
    const isRecorded = execution.summary !== undefined;
    return { id, kind: kindOf(state), stateText: words, isOver: !isOpen(execution), startedAt, durationMs, isRecorded };
  }

  get #owner(): string | null {
    return configOwner(this.#app.config.origin);
  }

  /** Leaves out ended executions that have a record on another page. */
  async #withoutRecorded(stored: ListedExecution[], page: readonly Summary[]): Promise<ListedExecution[]> {
    const here = new Set(page.map(({ id }) => id));
    const elsewhere = stored.filter((each) => !isOpen(each) && !here.has(each.id)).map(({ id }) => id);
    if (elsewhere.length === 0) return stored;
    const known = new Set(await this.#app.store.records.known(elsewhere));
    return stored.filter(({ id }) => !known.has(id));
  }

  async #readRecent(person: string | undefined): Promise<Summary[]> {
    try {
      return await readActivity(this.#app.store, { config: this.#owner, person }, { limit: maxRecentExecutions });
    } catch {
      // Unreadable records are treated as missing.
      return [];
    }
  }

  async #readRuns(): Promise<Summary[]> {
    try {
      return await readRuns(this.#app.store, this.#owner, maxShownRuns);
    } catch {
      return [];
    }
  }

  #facetsOf(person: string | undefined): Promise<Facets> {
    const known = this.#facets.get(turnOf(facetsFreshMs), () => new Map());
    const read = async () => {
      try {
        return await this.#app.store.records.facets({ config: this.#owner, person });
      } catch (error) {
        known.delete(person);
        throw error;
      }
    };
    return known.getOrInsertComputed(person, read);
  }

  async #storedNow(asking: Asking): Promise<ListedExecution[]> {
    const stamp = await storeStamp(this.#app.store, performance.now());
    return withApprovals(await this.#stored.get(stamp, () => this.#readStored()), asking);
  }

  async #readStored(): Promise<ListedExecution[]> {
    try {
      const executions = await this.#app.executions();
      const rows = await executions.stored.newest(maxReadStored, this.#app);
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

/** Changes after each span of so many milliseconds. */
function turnOf(spanMs: number): string {
  return String(Math.floor(performance.now() / spanMs));
}

/** The known names, and those of records that may be newer, sorted. */
function withThese(
  known: readonly string[],
  page: readonly Summary[],
  nameIn: (summary: Summary) => string | undefined,
) {
  return [...new Set([...known, ...page.flatMap((each) => nameIn(each) ?? [])])].sort();
}

/** The words of commands, except where a list can say it with fewer. */
function wordsOf(execution: ListedExecution): string {
  const { state } = execution;
  if (state.state === "lost" || state.state === "stopped") return state.state;
  if (state.state !== "ended") return state.until === undefined ? "running" : "waits";
  const end = activityState(execution);
  return end === "failed" ? stateText({ ...state, dryRun: undefined }) : end;
}

function programKey(name: string, door: string | undefined): string {
  return JSON.stringify([name, door ?? null]);
}

/** The home folder as ~. */
export function inHome(file: string, home: string): string {
  if (home === "/" || !file.startsWith(home)) return file;
  return file === home ? "~" : file.startsWith(`${home}/`) ? `~${file.slice(home.length)}` : file;
}
