/** What callers of the pool choose for one request. */
import type { JsonObject } from "../base/json-object.ts";
import type { Clock } from "../base/time-limit.ts";
import type { TraceContext } from "../base/trace-context.ts";
import type { ApprovalQueue, MadeCall } from "../policy/approval-queue.ts";
import type { Caller } from "../policy/flow/session-reads.ts";
import type { Connection } from "./connection/connect.ts";
import type { ProgressListener } from "./connection/server-progress.ts";

export interface CallOptions {
  signal?: AbortSignal | undefined;
  timeoutMs?: number | undefined;
  /** Send the request once more if the connection is lost, because doing it twice is harmless. */
  repeatable?: boolean | undefined;
  /** Paused while the server waits for a person, like the call's own timeout. */
  clock?: Clock | undefined;
  /** The signal of the agent's request that this is done for. It tells whom a question of the server is for. Default `signal`. */
  origin?: AbortSignal | undefined;
  /** Undefined for a call outside a program. */
  made?: MadeCall | undefined;
  /** Where a question about the call waits. Default: the queue that the app chooses. */
  queue?: ApprovalQueue | undefined;
  /** The agent that makes the call. Default: the agent of the connection. */
  caller?: Caller | undefined;
  /** Called before a tool call leaves. If it throws, the call does not leave. */
  onSend?: ((repeatable: boolean) => void | Promise<void>) | undefined;
  /** Called with the server's progress. */
  onProgress?: ProgressListener | undefined;
  /** Called, perhaps several times, when the server answers the call with a task. The call ends with the task. */
  onBecameTask?: (() => void) | undefined;
  /** Fail with CANCELLED if the server is not connected or connecting. Does not count as use. */
  startsNothing?: boolean | undefined;
  /** The request's own `_meta`. */
  meta?: JsonObject | undefined;
  /** The trace that the request belongs to. Its server gets it in `_meta`. */
  trace?: TraceContext | undefined;
}

export interface ListToolsOptions extends CallOptions {
  /** Called with each connection over which a page of the list comes. */
  onConnection?: ((connection: Connection) => void) | undefined;
  /** Gets what is missing from the list, and why. Without it, the log gets it. */
  note?: ((problem: string) => void) | undefined;
}
