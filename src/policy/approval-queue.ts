/**
 * Every question about a call is in an approval queue until the user decides: in the agent, at the terminal, on the page, or with
 * `claudikins approvals`. Calls that can wait are in the database, see `approvals/stored-queue.ts`; the queue of the others is here.
 */

import { ClaudikinsError } from "../base/errors.ts";
import { Semaphore } from "../base/semaphore.ts";
import { digestOf } from "../config/trust/marks.ts";
import { type ApprovalScope, argumentsPart } from "../store/approval.ts";
import type { ToolDefinition } from "./definition.ts";
import type { Question } from "./question-text.ts";

/** The place of a call in its execution. */
export interface MadeCall {
  execution: string;
  call: number;
  /** The line of the code: its number and its text. */
  line: number | undefined;
  code?: string | undefined;
}

/** Digests of everything that a decision about a call is bound to, by names that the user understands. */
export type Bound = Readonly<Record<string, string>>;

export function boundTo({ digests }: Pick<ToolDefinition, "digests">, args: object): Bound {
  return { ...Object.fromEntries(digests), [argumentsPart]: digestOf(args) };
}

/** The digests that a permission for further calls of the tool is bound to. Their arguments may differ. */
export function withoutArguments(bound: Bound): Bound {
  const { [argumentsPart]: _, ...rest } = bound;
  return rest;
}

/** A user's answer. A no counts for the tool, or with `all` for everything, until the execution ends. `reason` is for the program. */
export type Answer =
  | { state: "approved"; scope: ApprovalScope }
  | { state: "denied"; all?: boolean; reason?: string | undefined };

/** An answer, or the fact that there was none in time. */
export type AnswerOrExpiry = Answer | { state: "expired" };

/** How a question left the queue. `afterMs` is the time that a stored question was open. A withdrawn question no longer needs an answer. */
export type Verdict = Answer | { state: "expired"; afterMs?: number } | { state: "withdrawn" };

/** A question in the queue. */
export interface QueueEntry {
  /** The id with which the user can decide the question from elsewhere. Undefined if that is not possible. */
  readonly id?: string | undefined;
  readonly isOpen: boolean;
  /** What has changed since an earlier question about the same call. */
  changed: readonly string[] | undefined;
  /** Rejects if the decision cannot be read any more. */
  verdict: Promise<Verdict>;
  /**
   * Records an answer from this process. It has no effect if the call was already decided. An expiry also has no effect if the question may
   * wait for an answer from elsewhere. Rejects if it cannot be recorded.
   */
  decide(answer: AnswerOrExpiry): Promise<void>;
  /** Removes the question, or the approval, from the queue. */
  withdraw(): Promise<void>;
  /** Leaves the question in the queue, for the process that runs the execution next, or for the next call. */
  leave(): void;
}

export interface ApprovalQueue {
  /** Whether a question waits for an answer from elsewhere if the user cannot be asked in this process, or does not answer. */
  readonly waits: boolean;
  /** Whether the call fails at once if it would have to wait, and its question stays open for the same call later. */
  readonly outlivesCalls?: boolean;
  /** Limits the questions that are open at the same time. `signal` is shared by all calls of one execution. */
  places(signal: AbortSignal | undefined): Semaphore;
  /** Whether the user has approved the call already. */
  isApproved(made: MadeCall | undefined): Promise<boolean>;
  /**
   * Adds the question to the queue. A waiting question about the same call is reused if its digests are the same. Otherwise it is
   * withdrawn. Throws FILE_NOT_WRITABLE.
   */
  add(question: Question, bound: Bound, made: MadeCall | undefined): Promise<QueueEntry>;
}

/** Records an answer in the audit log. Throws FILE_NOT_WRITABLE. */
export type AnswerRecorder = (
  question: Question,
  bound: Bound,
  answer: AnswerOrExpiry,
  made: MadeCall | undefined,
) => Promise<void>;

/** The queue of calls that cannot wait. It is in memory, and has one question at a time. */
export class ImmediateQueue implements ApprovalQueue {
  readonly waits = false;
  readonly #place = new Semaphore(1);
  readonly #record: AnswerRecorder | undefined;

  /** Without `record`, answers are not recorded. */
  constructor(record?: AnswerRecorder) {
    this.#record = record;
  }

  places(): Semaphore {
    return this.#place;
  }

  async isApproved(): Promise<boolean> {
    return false;
  }

  async add(question: Question, bound: Bound, made: MadeCall | undefined): Promise<QueueEntry> {
    const { promise: verdict, resolve } = Promise.withResolvers<Verdict>();
    let isOpen = true;
    let deciding: Promise<void> | undefined;
    const close = (closed: Verdict) => {
      isOpen = false;
      resolve(closed);
    };
    const record = async (answer: AnswerOrExpiry) => {
      await this.#record?.(question, bound, answer, made);
      close(answer);
    };
    return {
      get isOpen() {
        return isOpen;
      },
      changed: undefined,
      verdict,
      decide: async (answer) => {
        // The first answer counts, even while it is still being recorded.
        if (isOpen) deciding ??= record(answer);
        await deciding;
      },
      withdraw: async () => close({ state: "withdrawn" }),
      leave() {},
    };
  }
}

/** The reason to end a question that was answered elsewhere. */
export const decidedElsewhere = new ClaudikinsError("CANCELLED", "Decided elsewhere");

/** The reason to abort an execution whose questions stay open, because another process continues it. */
export const continuesElsewhere = new ClaudikinsError("CANCELLED", "The execution continues in another process");
