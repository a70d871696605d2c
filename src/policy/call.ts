/** A call on its way to a server, whoever makes it. Each edge makes this object once, and every step of the way gets it. */
import type { Progress } from "@modelcontextprotocol/client";
import type { JsonObject } from "../base/json-object.ts";
import type { Clock } from "../base/time-limit.ts";
import type { TraceContext } from "../base/trace-context.ts";
import type { ApprovalScope } from "../store/approval.ts";
import type { ApprovalQueue, MadeCall } from "./approval-queue.ts";
import type { Caller } from "./flow/session-reads.ts";

/** A person's decision about a call. `open`: the question outlives the call. */
export interface CallDecision {
  decision: ApprovalScope | "denied" | "expired" | "withdrawn" | "open";
  /** The id of the question in the approval queue of the database. */
  approval?: string | undefined;
}

export interface Call {
  /** Aborted when nobody waits for the answer any more. All calls of one execution share it. */
  signal?: AbortSignal | undefined;
  /**
   * The signal of the agent's request that the call is made for. It identifies the agent that a question of the server is for. Default
   * `signal`.
   */
  origin?: AbortSignal | undefined;
  /** The agent that makes the call. Default: the agent of the connection. */
  caller?: Caller | undefined;
  /** The execution, and the place of the call in it. Undefined outside a program. */
  made?: MadeCall | undefined;
  /** Paused while a person is asked, like the call's own time limit. */
  clock?: Clock | undefined;
  /** The trace that the call belongs to. Its server gets it in `_meta`. */
  trace?: TraceContext | undefined;
  /** The request's own `_meta`. */
  meta?: JsonObject | undefined;
  /** Milliseconds for the answer. Default: `callTimeoutMs` of the server's entry. */
  timeoutMs?: number | undefined;
  /** Send the request once more if the connection is lost, because doing it twice is harmless. */
  repeatable?: boolean | undefined;
  /** Fail with CANCELLED if the server is not connected or connecting. Does not count as use. */
  startsNothing?: boolean | undefined;
  /** Where a question about the call waits. Default: the queue that the app chooses. */
  queue?: ApprovalQueue | undefined;
  /** Called before a tool call leaves. If it throws, the call does not leave. */
  onSend?: ((repeatable: boolean) => void | Promise<void>) | undefined;
  /** Called when a question about the call has left the queue, and when an approval for the session counts for it. */
  onDecided?: ((decided: CallDecision) => void) | undefined;
  /** Called with the server's progress. */
  onProgress?: ((progress: Progress) => void) | undefined;
  /** Called, perhaps several times, when the server answers the call with a task. The call ends with the task. */
  onBecameTask?: (() => void) | undefined;
}
