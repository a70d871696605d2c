/** The executions in the store, as this process sees them: the executions of its config, who runs them, and which build has saved them. */
import { ClaudikinsError, messageOf, toClaudikinsError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { buildMark, formatOf } from "../../base/program-format.ts";
import type { TraceContext } from "../../base/trace-context.ts";
import { dayMs, hourMs } from "../../base/units.ts";
import type { Person } from "../../config/oidc.ts";
import type { CallGroup, CheckMode, Outcome, Limits as SandboxLimits } from "../../sandbox/contract.ts";
import { calledId } from "../../sandbox/seen-calls.ts";
import type { BriefExecution, CallPlace, ExecutionRows, StoredExecution } from "../../store/executions.ts";
import type { ExecutionWriter } from "../../store/jobs.ts";
import type { Store } from "../../store/store.ts";
import type { ExecuteRequest, ExecutionParts } from "../execute.ts";
import type { ProgramIdentity } from "../saved/permissions.ts";
import type { StoredRun } from "../saved/requesting-program.ts";
import { commentIn } from "../trace/about.ts";
import { agentText, type HostIdentity, type StartedBy, startedByOf, type Unattended } from "../trace/record.ts";
import { mayAsk, ownerIn, type RequestingAgent, type Starter } from "./asker.ts";
import type { StoreAccess } from "./checkpointer.ts";
import { outcomeOf } from "./stored-outcome.ts";

/** Time between looks for stored executions that are no longer kept. */
const tidyMs = hourMs;

export interface ExecutionsOptions {
  store: Store;
  /** The config file; null for the demo. */
  config: string | null;
  /** The door of the config. */
  door?: string | undefined;
  /** The person whose executions these are. Undefined for the user, who may see the executions of people too. */
  person?: string | undefined;
  log: Log;
  /** Without it, a program that another build has saved is lost here. */
  otherBuilds?: OtherBuilds | undefined;
}

/** Executables with other formats of saved programs. Each continues the programs that it has saved, which have its `mark`. */
export interface OtherBuilds {
  has(mark: string): boolean;
  /** Starts a process of that build, which continues the execution. False if it does not. Throws what starting throws. */
  continue(mark: string, id: string): Promise<boolean>;
  /** Keeps the executable of this process. It never throws. */
  keepOwn(): void;
  /** Removes executables that no program with one of these marks needs. */
  removeAllBut(marks: readonly string[]): void;
}

/** Whether the program was saved in a format that this build cannot continue. */
export function isOfOtherBuild({ isSaved, engine }: Pick<StoredExecution, "isSaved" | "engine">): boolean {
  return isSaved && formatOf(engine ?? "") !== formatOf(buildMark);
}

/** What it takes to continue an execution, and to list it: the stored JSON. */
export interface StoredRequest {
  source: string;
  /** The limits of the request, for a program that has not started. */
  asked: ExecuteRequest["limits"];
  limits: SandboxLimits;
  check: CheckMode | undefined;
  isForAgent: boolean;
  unattended?: Unattended | undefined;
  host: HostIdentity | undefined;
  /** The door behind which it runs. Only there can it be continued. */
  door?: string | undefined;
  /** The person for whom it runs, in a workspace of the person's own. */
  person?: Person | undefined;
  claim?: string | undefined;
  starter?: Starter | undefined;
  /** The saved program that it runs. */
  program?: ProgramIdentity | undefined;
  /** The id of the execution whose code it runs again. */
  repeats?: string | undefined;
  /** The session of the agent, by a short name. */
  session?: string | undefined;
  isDryRun?: boolean | undefined;
  /** The working directory of servers that name none. */
  cwd: string;
  /** The trace that it belongs to, also where it is continued. */
  trace?: TraceContext | undefined;
}

/** A call that a stored execution waits for. */
export interface OpenCallState {
  /** The tool id. */
  tool: string;
  /** The line of the code. */
  line: number | undefined;
  state: CallPlace["state"];
}

export class StoredExecutions {
  readonly #options: ExecutionsOptions;
  readonly #cancel: (id: string) => void;
  #access: Promise<StoreAccess & { end: () => Promise<void> }> | undefined;
  #stopListening: (() => void) | undefined;

  /** `cancel` is called when another process wants an execution of this process to be cancelled. */
  constructor(options: ExecutionsOptions, cancel: (id: string) => void) {
    this.#options = options;
    this.#cancel = cancel;
  }

  /** Whether anything was ever stored. The file is not created for a question. */
  get exist(): boolean {
    return this.#options.store.exists;
  }

  get #rows(): ExecutionRows {
    return this.#options.store.executions;
  }

  /** Whether an execution of this config is stored with this claim. */
  async hasClaim(id: string, claim: string, parts: ExecutionParts): Promise<boolean> {
    if (!this.exist) return false;
    await this.open(parts);
    const row = await this.#rows.get(id);
    if (row?.config !== this.#options.config || !this.isOfView(row)) return false;
    return (JSON.parse(row.request) as StoredRequest).claim === claim;
  }

  /** The executions of this config that are stored, newest first. Behind a door, only the door's. */
  async list(parts: ExecutionParts): Promise<StoredExecution[]> {
    if (!this.exist) return [];
    await this.open(parts);
    return (await this.#rows.list(this.#options.config)).filter((row) => this.#isShown(row));
  }

  /** The stored executions of this config that have not ended and are not lost. Behind a door, only the door's. */
  async unfinished(parts: ExecutionParts): Promise<StoredExecution[]> {
    if (!this.exist) return [];
    await this.open(parts);
    return (await this.#rows.open(this.#options.config)).filter((row) => this.#isShown(row));
  }

  #isShown(row: StoredExecution): boolean {
    const { door, person } = this.#options;
    if (person !== undefined) return this.isOfView(row);
    return door === undefined || viewOf(row).door === door;
  }

  /** Whether the execution was started behind our door, or without one if we have none, and for our person, or for none. */
  isOfView(row: Pick<StoredExecution, "request">): boolean {
    const { door, person } = viewOf(row);
    return door === this.#options.door && person?.id === this.#options.person;
  }

  /** The newest of them, without their requests, which may be long. */
  async newest(count: number, parts: ExecutionParts): Promise<BriefExecution[]> {
    if (!this.exist) return [];
    await this.open(parts);
    return this.#rows.newest(this.#options.config, count);
  }

  /** What a stored execution runs: the beginning of its source, at most `chars` characters, and the command that it came by. */
  async aboutProgram(id: string, chars: number, parts: ExecutionParts): Promise<AboutProgram> {
    await this.open(parts);
    return aboutRequest((await this.#rows.get(id))?.request ?? '{"source":""}', chars);
  }

  /** The runs of a saved program that are stored, newest first: those that an agent of the same owner may know. */
  async runsOf(name: string, count: number, parts: ExecutionParts, asker: Starter | undefined): Promise<StoredRun[]> {
    if (!this.exist) return [];
    const { writer } = await this.open(parts);
    const owner = ownerIn(asker);
    const rows = (await this.#rows.list(this.#options.config)).filter((row) => {
      const { program, starter } = JSON.parse(row.request) as StoredRequest;
      return this.isOfView(row) && program?.name === name && ownerIn(starter) === owner;
    });
    return Promise.all(
      rows.slice(0, count).map(async (row) => {
        return { execution: row.id, startedAt: row.startedAt, outcome: await storedOutcome(row, writer) };
      }),
    );
  }

  /** Whether an execution with this id is stored. */
  async has(id: string): Promise<boolean> {
    return this.exist && (await this.#rows.get(id)) !== undefined;
  }

  /** The outcome of a stored execution of this config; undefined if it has not ended. Throws EXECUTION_NOT_FOUND. */
  async outcomeOf(id: string, parts: ExecutionParts): Promise<Outcome | undefined> {
    const { writer } = await this.open(parts);
    return storedOutcome(await this.rowOf(id), writer);
  }

  /** A stored execution of this config, and the calls that it waits for. Throws EXECUTION_NOT_FOUND. */
  async look(id: string, parts: ExecutionParts): Promise<{ row: StoredExecution; calls: OpenCallState[] }> {
    await this.open(parts);
    const row = await this.rowOf(id);
    const calls = (await this.#rows.callPlaces(id)).map(({ namespace, group, name, line, state }) => {
      const tool = calledId({ namespace, group: group as CallGroup, name });
      return { tool, line: line ?? undefined, state };
    });
    return { row, calls };
  }

  /** An execution of another agent, or outside of our door, counts as not found. Throws EXECUTION_NOT_FOUND. */
  async rowOf(id: string, asker?: RequestingAgent): Promise<StoredExecution> {
    const row = await this.#rows.get(id);
    if (!row) throw notFound(id);
    const { door, person, starter } = JSON.parse(row.request) as StoredRequest;
    const { config, door: ownDoor, person: ownPerson } = this.#options;
    // The user sees and cancels what runs for people.
    const isOfPerson = person?.id === ownPerson || (!asker && ownPerson === undefined);
    const isOurs = row.config === config && door === ownDoor && isOfPerson;
    if (isOurs && (!asker || (await mayAsk(asker, starter)))) return row;
    if (asker || ownDoor !== undefined || ownPerson !== undefined) throw notFound(id);
    if (row.config === this.#options.config) {
      throw new ClaudikinsError("EXECUTION_NOT_FOUND", `The execution "${id}" is behind the door "${door}"`, {
        hint: `Add --door ${door}`,
      });
    }
    throw new ClaudikinsError("EXECUTION_NOT_FOUND", `The execution "${id}" belongs to another config`, {
      hint:
        row.config === null ? "It is the demo's: use it where no config file is found." : `Add --config ${row.config}`,
    });
  }

  /** Whether the process that runs the execution is alive. */
  async isAlive({ owner }: Pick<StoredExecution, "owner">): Promise<boolean> {
    return owner !== null && (await this.#options.store.isAlive(owner));
  }

  /** Whether only another build can continue the program, and its executable is gone. */
  isOfLostBuild(row: Pick<StoredExecution, "isSaved" | "engine">): boolean {
    if (row.engine === null || !isOfOtherBuild(row)) return false;
    return this.#options.otherBuilds?.has(row.engine) !== true;
  }

  open(parts: ExecutionParts): Promise<StoreAccess> {
    this.#access ??= this.#openStore(parts).catch((error: unknown) => {
      this.#access = undefined;
      throw error;
    });
    return this.#access;
  }

  async #openStore({ config }: ExecutionParts): Promise<StoreAccess & { end: () => Promise<void> }> {
    const { store, otherBuilds } = this.#options;
    const waiting = await this.#rows.waiting();
    const owner = await store.takeOwner();
    const writer = this.#rows.writer((text) => this.#options.log.warn(text));
    const tidy = () => void this.#tidy(writer, Date.now() - config.executions.keepDays * dayMs);
    tidy();
    const timer = setInterval(tidy, tidyMs).unref();
    otherBuilds?.removeAllBut(waiting.flatMap((each) => each.engine ?? []));
    this.#stopListening ??= store.onChange(() => void this.#look(owner.name));
    const end = async () => {
      clearInterval(timer);
      // The lock is kept until everything is written: no other process may take an execution over before.
      await writer.close();
      await owner[Symbol.asyncDispose]();
    };
    const keepBuild = () => otherBuilds?.keepOwn();
    return { writer, owner: owner.name, keepBuild, end };
  }

  /** Removes executions that are older than `before` and do not run, and pages that no execution has. */
  async #tidy(writer: ExecutionWriter, before: number): Promise<void> {
    try {
      if (!(await this.#options.store.mayTidy("executions"))) return;
      for (const row of await this.#rows.old(before)) {
        if (!(await this.isAlive(row))) await writer.do("remove", row.id, {});
      }
      await writer.deleteOrphans((owner) => this.#options.store.isAlive(owner));
      await this.#options.store.files?.tidy(Date.now());
    } catch (error) {
      const { log } = this.#options;
      if (toClaudikinsError(error).code === "BUCKET_UNAVAILABLE")
        log.warn(`Cannot tidy the bucket: ${messageOf(error)}`);
      else log.debug(`Cannot tidy the database: ${messageOf(error)}`);
    }
  }

  /** Cancels what other processes want to be cancelled. */
  async #look(owner: string): Promise<void> {
    try {
      for (const id of await this.#rows.cancelled(owner)) this.#cancel(id);
    } catch (error) {
      this.#options.log.debug(`Cannot read the database: ${messageOf(error)}`);
    }
  }

  async close(): Promise<void> {
    this.#stopListening?.();
    const access = await this.#access?.catch(() => undefined);
    await access?.end();
  }
}

async function storedOutcome(
  { id, state }: Pick<StoredExecution, "id" | "state">,
  writer: ExecutionWriter,
): Promise<Outcome | undefined> {
  const { outcome, value } = state === "ended" ? await writer.do("outcome", id, {}) : {};
  return outcome === undefined ? undefined : outcomeOf({ outcome, value });
}

export interface AboutProgram {
  code: string;
  /** The comment at the beginning of the code. Empty if there is none. */
  comment: string;
  /** The agent, as it names itself. */
  agent?: string | undefined;
  /** The working folder, except for people who have signed in. */
  folder?: string | undefined;
  /** The name of the saved program that it is. */
  program?: string | undefined;
  /** The id of the execution whose code it runs again. */
  repeats?: string | undefined;
  /** The session of the agent, by a short name. */
  session?: string | undefined;
  /** The door behind which it was started. */
  door?: string | undefined;
  /** The person for whom it was started. */
  person?: Person | undefined;
  startedBy: StartedBy;
  isDryRun: boolean;
}

/** The part of a config in which an execution runs. */
export type ExecutionView = Pick<StoredRequest, "door" | "person">;

export function viewOf({ request }: Pick<StoredExecution, "request">): ExecutionView {
  const { door, person } = JSON.parse(request) as StoredRequest;
  return { door, person };
}

/** `request` is the stored JSON. */
export function aboutRequest(request: string, chars?: number): AboutProgram {
  const stored = JSON.parse(request) as Pick<StoredRequest, "source"> & Partial<StoredRequest>;
  const { source, program, repeats, session, door, person, host, cwd, isDryRun = false } = stored;
  const startedBy = startedByOf(stored);
  return {
    code: source.slice(0, chars),
    comment: program ? "" : commentIn(source),
    agent: host && agentText(host),
    folder: person === undefined ? cwd : undefined,
    program: program?.name,
    repeats,
    session,
    door,
    person,
    startedBy,
    isDryRun,
  };
}

export function notFound(id: string): ClaudikinsError {
  return new ClaudikinsError("EXECUTION_NOT_FOUND", `There is no execution "${id}"`, {
    hint: "To list the executions that run or wait: claudikins executions list",
  });
}
