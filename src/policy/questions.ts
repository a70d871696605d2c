/**
 * Gets the user's verdict about a call: its question becomes an entry of an approval queue, and stays there until it is decided. The
 * agent or the terminal of this process is asked meanwhile; the page and `claudikins approvals` decide stored entries.
 */
import { waitText } from "../base/duration.ts";
import { ClaudikinsError, messageOf } from "../base/errors.ts";
import { personMs } from "../base/limits.ts";
import { Semaphore } from "../base/semaphore.ts";
import { TimeLimit } from "../base/time-limit.ts";
import type { ApprovalScope } from "../store/approval.ts";
import {
  type Answer,
  type ApprovalQueue,
  boundTo,
  continuesElsewhere,
  decidedElsewhere,
  type QueueEntry,
  type Verdict,
} from "./approval-queue.ts";
import { turnFor } from "./argument-size.ts";
import type { Call } from "./call.ts";
import { changedParts, type ToolDefinition } from "./definition.ts";
import type { SessionReads } from "./flow/session-reads.ts";
import { type Question, questionText } from "./question-text.ts";
import { cancelled, isNo, keyOf, pending, Refusals, refused, unreachable } from "./refusals.ts";

/** Asks the user. */
export interface Asker {
  /**
   * Undefined if the question was closed without an answer, perhaps because no user is there. Rejects if the signal is aborted, or if
   * the user could not be asked after all.
   */
  ask(text: string, question: Question, signal: AbortSignal, origin?: AbortSignal): Promise<Answer | undefined>;
}

/** Returns who can be asked now. */
export type CurrentAsker = () => Asker | undefined | Promise<Asker | undefined>;

/** A question about a call, and everything that belongs to it. */
export interface PendingQuestion {
  question: Question;
  /** The definition that the user is asked about. */
  definition: ToolDefinition;
  queue: ApprovalQueue;
  call: Call;
  /** An approval for the session counts for this one. */
  session: SessionReads;
  /** An approval for the program counts for this one. */
  program: SessionReads;
  /** How the config could allow the call. */
  hint: string;
}

/** A question in its queue. */
interface OpenQuestion {
  asked: PendingQuestion;
  entry: QueueEntry;
  /** Whether the user said no to this question in this process. */
  isRefusedHere?: boolean;
}

export class Questions {
  readonly #asker: CurrentAsker;
  /** Limits the questions to the user to one at a time. */
  readonly #turns = new Semaphore(1);
  readonly #refusals = new Refusals();
  readonly #open = new Set<OpenQuestion>();

  constructor(asker: CurrentAsker) {
    this.#asker = asker;
  }

  /** Waits for a place in the queue. The clock of the execution is paused until the place is given back. Throws CANCELLED. */
  async place({ question, queue, call: { signal, clock } }: PendingQuestion): Promise<Disposable> {
    const places = queue.places(signal);
    clock?.hold();
    const turn = places.acquire(signal);
    if (turn && !(await turn)) {
      clock?.release();
      throw cancelled(question);
    }
    return {
      [Symbol.dispose]() {
        places.release();
        clock?.release();
      },
    };
  }

  /**
   * Adds the question to its queue, and waits until the user approves the call. Throws POLICY_DENIED if the user refuses it, if
   * no answer can come, and if this code has asked too often. The caller withdraws the entry if the tool has changed since.
   */
  async approval(asked: PendingQuestion): Promise<{ scope: ApprovalScope; entry: QueueEntry }> {
    const { question, definition, queue, call } = asked;
    const { signal, made } = call;
    // This is checked again when the user is asked. The question is not counted yet.
    const isReachable = queue.waits || (await this.#asker()) !== undefined;
    const earlier = this.#refusals.inForce(question, signal);
    // A call that waits may still be approved elsewhere after a question without an answer.
    const refusal = earlier && (isNo(earlier.how) || !queue.waits) ? refused(asked, earlier) : undefined;
    // An approved call stays approved even if the user has refused others since. A continued execution asks again.
    if (refusal && !(await queue.isApproved(made))) throw refusal;
    if (!isReachable) throw unreachable(asked);
    this.#refusals.countQuestion(signal);
    await turnFor(question.args);
    const entry = await queue.add(question, boundTo(definition, question.args), made);
    if (refusal && entry.isOpen) {
      await entry.withdraw();
      throw refusal;
    }
    const open: OpenQuestion = { asked, entry };
    this.#open.add(open);
    try {
      const verdict = await this.#verdict(open);
      const decision = verdict.state === "approved" ? verdict.scope : verdict.state;
      call.onDecided?.({ decision, approval: entry.id });
      if (verdict.state === "approved") return { scope: verdict.scope, entry };
      throw this.#refusalOf(verdict, open);
    } finally {
      this.#open.delete(open);
    }
  }

  /**
   * Approves the other open questions about a tool that was just allowed for the session or the program, if they are about the same
   * definition.
   */
  approveOthers({ question, definition, session, program }: PendingQuestion, scope: "program" | "session"): void {
    for (const { asked, entry } of this.#open) {
      const isWithin = scope === "session" ? asked.session === session : asked.program === program;
      if (!isWithin || keyOf(asked.question) !== keyOf(question)) continue;
      if (changedParts(definition.digests, asked.definition.digests).length > 0) continue;
      // If the answer cannot be recorded, the question stays open.
      entry.decide({ state: "approved", scope }).catch(() => {});
    }
  }

  /** Waits until the question leaves the queue. */
  async #verdict(open: OpenQuestion): Promise<Verdict> {
    const { asked, entry } = open;
    const { signal } = asked.call;
    const ended = new AbortController();
    const failed = Promise.withResolvers<never>();
    const cancel = () => failed.reject(cancelled(asked.question));
    const { waits, outlivesCalls = false } = asked.queue;
    let isLeft = false;
    this.#askHere(open, ended.signal).then((why) => {
      if (!why) return;
      isLeft = outlivesCalls && entry.isOpen;
      if (isLeft) failed.reject(pending(asked.question, entry.id));
      else if (!waits) failed.reject(why);
    }, failed.reject);
    if (signal?.aborted) cancel();
    signal?.addEventListener("abort", cancel, { once: true });
    try {
      return await Promise.race([entry.verdict, failed.promise]);
    } catch (error) {
      if (isLeft) asked.call.onDecided?.({ decision: "open", approval: entry.id });
      if (isLeft || signal?.reason === continuesElsewhere) entry.leave();
      else await entry.withdraw().catch(() => {});
      throw error;
    } finally {
      signal?.removeEventListener("abort", cancel);
      ended.abort(decidedElsewhere);
    }
  }

  /**
   * Asks the user in this process, and records the answer. Returns why there was none, as the error of a call that cannot wait for
   * another answer. Rejects if the answer cannot be recorded.
   */
  async #askHere(open: OpenQuestion, ended: AbortSignal): Promise<ClaudikinsError | undefined> {
    const { asked, entry } = open;
    if (!entry.isOpen) return undefined;
    const { question, call } = asked;
    const { signal, origin = signal } = call;
    const either = signal ? AbortSignal.any([signal, ended]) : ended;
    const turn = this.#turns.acquire(either);
    if (turn && !(await turn)) return undefined;
    try {
      const asker = await this.#asker();
      if (!entry.isOpen || either.aborted) return undefined;
      const earlier = this.#refusals.inForce(question, signal, { isCounted: true });
      if (earlier) return refused(asked, earlier);
      if (!asker) return unreachable(asked);
      const shown = { ...question, changed: entry.changed ?? question.changed };
      const answer = await answerOf(asker, shown, either, origin).catch((error: unknown) =>
        either.aborted ? undefined : unreachable(asked, messageOf(error)),
      );
      if (answer === undefined || answer instanceof ClaudikinsError) return answer;
      if (typeof answer === "string") {
        this.#refusals.add(question, signal, answer);
        if (answer === "late") await entry.decide({ state: "expired" });
        return refused(asked, { how: answer });
      }
      if (answer.state === "denied") {
        open.isRefusedHere = true;
        this.#refusals.add(question, signal, answer.all ? "declined" : "no");
      }
      await entry.decide(answer);
      return undefined;
    } finally {
      this.#turns.release();
    }
  }

  #refusalOf(
    verdict: Exclude<Verdict, { state: "approved" }>,
    { asked, isRefusedHere }: OpenQuestion,
  ): ClaudikinsError {
    const { question, call } = asked;
    if (verdict.state === "withdrawn") return cancelled(question);
    if (verdict.state === "expired") {
      const { afterMs } = verdict;
      if (afterMs === undefined) return refused(asked, { how: "late" });
      const why = `was not called: nobody decided about it within ${waitText(afterMs)}, so the question has expired`;
      return refused(asked, { how: "late", why });
    }
    if (!isRefusedHere) {
      const earlier = this.#refusals.inForce(question, call.signal);
      if (earlier?.how === "declined") return refused(asked, earlier);
      // A denial elsewhere also decides the other open questions about the tool, and counts once.
      if (!earlier || !isNo(earlier.how)) this.#refusals.add(question, call.signal, "no", verdict.reason);
    }
    return refused(asked, { how: "no", reason: verdict.reason });
  }
}

/** Rejects if the asker rejects. */
async function answerOf(
  asker: Asker,
  question: Question,
  signal: AbortSignal,
  origin: AbortSignal | undefined,
): Promise<Answer | "cancelled" | "late"> {
  const late = new AbortController();
  const limit = new TimeLimit(personMs, () => late.abort());
  try {
    const either = AbortSignal.any([signal, late.signal]);
    return (await asker.ask(questionText(question), question, either, origin)) ?? "cancelled";
  } catch (error) {
    if (late.signal.aborted && !signal.aborted) return "late";
    throw error;
  } finally {
    limit.end();
  }
}
