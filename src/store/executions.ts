/**
 * Executions that outlive their process, and the calls that their programs wait for. What is written goes through a writer. Executions that no
 * process runs, because theirs has died or given them up, are continued by another one: a waiting one when its time has come.
 */
import type { ExecutionWriter } from "./jobs.ts";

export interface StoredExecution {
  id: string;
  /** The config file; null for the demo. */
  config: string | null;
  state: "open" | "ended";
  /** The process that runs it, see `Store.takeOwner`. */
  owner: string | null;
  /** In milliseconds since 1970. */
  startedAt: number;
  changedAt: number;
  /** When it goes on, if it waits for nothing but a timer. */
  wakeAt: number | null;
  /** Another process wants it to be cancelled. */
  isCancelled: boolean;
  /** Whether a caller has its id, and may ask for the outcome. */
  isWanted: boolean;
  /** The build that saved the program. */
  engine: string | null;
  /** JSON. */
  request: string;
  /** Whether its program is stored, so that it can be continued. */
  isSaved: boolean;
  /** Why its program is not stored. */
  unsaved: string | null;
  /** Whether an ended one succeeded. */
  isOk: boolean;
  /** Why an ended one failed. */
  reason: string | undefined;
}

/** An execution without its request. */
export type BriefExecution = Omit<StoredExecution, "request">;

/** What a stored call is about: names and its place, without its arguments. */
export interface CallPlace {
  call: number;
  /** `made`: it has not left. `sent`: it may have left. */
  state: "made" | "sent" | "answered";
  namespace: string;
  group: string;
  name: string;
  line: number | null;
}

/** Programs that can be continued, of one config and one build. */
export interface WaitingPrograms {
  config: string | null;
  engine: string | null;
  isWanted: boolean;
  count: number;
}

export interface ExecutionRows {
  get(id: string): Promise<StoredExecution | undefined>;
  /** The executions of a config that have not ended and whose program is not lost: `unsaved` is null. */
  open(config: string | null): Promise<StoredExecution[]>;
  /** Newest first. Without a config, the executions of all configs. */
  list(config?: string | null): Promise<StoredExecution[]>;
  /** Newest first, at most `count`. */
  newest(config: string | null, count: number): Promise<BriefExecution[]>;
  /**
   * The executions of all configs by clients whose names (`starter.client` of the request) begin like this: those that have not ended, or all.
   */
  startedBy(client: string, which?: "open" | "all"): Promise<StartedExecution[]>;
  /** The saved programs of all configs that have not ended. */
  waiting(): Promise<WaitingPrograms[]>;
  /** The stored program, as it was saved. Undefined if none is. */
  program(id: string): Promise<Uint8Array | undefined>;
  /** The calls that the program waits for, by their numbers. */
  callPlaces(id: string): Promise<CallPlace[]>;
  /** The executions of the owner that have not ended and that another process wants to be cancelled. */
  cancelled(owner: string): Promise<string[]>;
  /** The executions that have not changed since, and wait neither for a timer nor for an approval. In milliseconds since 1970. */
  old(before: number): Promise<StoredExecution[]>;
  /** A process has one for its executions, and closes it. `warn` is called with what went wrong and was made up for. */
  writer(warn?: (text: string) => void): ExecutionWriter;
}

/** What it takes to end an execution that a client has started. */
export type StartedExecution = Pick<StoredExecution, "id" | "config" | "owner" | "startedAt" | "changedAt">;

/** What a process does with the executions that it gets. */
export interface ContinuationHandlers {
  /** The executions of this config file; null for the demo. */
  config: string | null;
  /** Only those behind this door. Undefined: all of them. */
  door: string | undefined;
  /** The format of saved programs that the process continues. */
  format: string;
  /**
   * Continues an execution. Resolves when it has run for a while, waits or has ended, also if another process runs it. Rejects if it cannot be
   * continued now: then a process tries again later. `stopping` aborts when the process takes no more.
   */
  continueHere(execution: string, stopping: AbortSignal): Promise<void>;
  /** Ends an execution after the last attempt. Rejects if it cannot be ended now. */
  giveUp(execution: string, failed: FailedAttempts): Promise<void>;
  /** Called with what went wrong, and is made up for later. */
  onProblem(text: string): void;
}

export interface FailedAttempts {
  attempts: number;
  /** Why the last one failed. */
  problem: string;
}

export interface Continuing extends AsyncDisposable {
  /** Takes no more executions. Resolves when none is being taken. */
  [Symbol.asyncDispose](): Promise<void>;
}

export interface Continuations {
  /** Gives this process executions of its config, a few at a time, until the result is disposed of. Throws DATABASE_UNAVAILABLE. */
  take(handlers: ContinuationHandlers): Promise<Continuing>;
}
