/**
 * Questions about calls wait in the approval queue until a person decides: in the agent, at the terminal, on the page, or with
 * `claudikins approvals`. The gate uses this interface; `approvals/stored-queue.ts` keeps the queue in the database.
 */

import { ClaudikinsError } from "../base/errors.ts";
import { digestOf } from "../config/trust/marks.ts";
import type { ToolDefinition } from "./definition.ts";
import type { Question } from "./question.ts";

/** The place of a call in its execution. */
export interface MadeCall {
  execution: string;
  call: number;
  /** The line of the code: its number and its text. */
  line: number | undefined;
  code?: string | undefined;
}

/** Digests of everything that a decision about a call is bound to, by names that a person understands. */
export type Bound = Readonly<Record<string, string>>;

const argumentsPart = "the values of its arguments";

export function boundTo({ digests }: Pick<ToolDefinition, "digests">, args: object): Bound {
  return { ...Object.fromEntries(digests), [argumentsPart]: digestOf(args) };
}

/** The digests that a permission for further calls of the tool is bound to. Their arguments may differ. */
export function withoutArguments(bound: Bound): Bound {
  const { [argumentsPart]: _, ...rest } = bound;
  return rest;
}

export function argumentsDigest(bound: Bound): string {
  return bound[argumentsPart] ?? "";
}

/** A person's decision. A no counts for the tool, or with `all` for everything, until the execution ends. */
export type UnsignedDecision = { state: "approved"; scope: "once" | "session" } | { state: "denied"; all?: boolean };

/** How a question left the queue. */
export type Verdict =
  | { state: "approved"; scope: "once" | "session" }
  | { state: "denied" }
  | { state: "expired"; afterMs: number }
  /** Nobody needs the answer any more. */
  | { state: "withdrawn" };

/** A question in the queue. */
export interface QueuedQuestion {
  readonly isOpen: boolean;
  /** What has changed since an earlier question about the same call. */
  changed: readonly string[] | undefined;
  /** Rejects if the decision cannot be read any more. */
  verdict: Promise<Verdict>;
  /** Records what a person has said here. Has no effect if the call was already decided. Rejects if it cannot be recorded. */
  decide(said: UnsignedDecision): Promise<void>;
  /** Removes the question, or the approval, from the queue. */
  withdraw(): Promise<void>;
  /** Leaves the question in the queue, for the process that runs the execution next. */
  leave(): void;
}

export interface ApprovalQueue {
  /** Whether calls may wait here for a decision. Without it, only decisions are noted. */
  readonly waits: boolean;
  /** Whether a person has approved the call already. */
  isApproved(made: MadeCall): Promise<boolean>;
  /**
   * Adds the question to the queue. A question about the same call that waits already is used if it is bound to the same;
   * otherwise it is withdrawn. Throws FILE_NOT_WRITABLE.
   */
  add(question: Question, bound: Bound, made: MadeCall): Promise<QueuedQuestion>;
  /** Notes what a person said about a call that cannot wait. Throws FILE_NOT_WRITABLE. */
  note(
    question: Question,
    bound: Bound,
    said: UnsignedDecision | { state: "expired" },
    made: MadeCall | undefined,
  ): Promise<void>;
}

/** The reason to end a question that a person has answered elsewhere. */
export const decidedElsewhere = new ClaudikinsError("CANCELLED", "Decided elsewhere");

/** The reason to abort an execution whose questions stay open, because another process continues it. */
export const continuesElsewhere = new ClaudikinsError("CANCELLED", "The execution continues in another process");
