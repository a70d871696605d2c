/** Questions that wait in the queue until somebody decides, wherever that is. Meanwhile, a person who can be reached now is asked as well. */
import { waitText } from "../base/duration.ts";
import type { ClaudikinsError } from "../base/errors.ts";
import { Semaphore } from "../base/semaphore.ts";
import {
  type ApprovalQueue,
  boundTo,
  continuesElsewhere,
  decidedElsewhere,
  type MadeCall,
  type QueuedQuestion,
  type Verdict,
} from "./approval-queue.ts";
import { turnFor } from "./argument-size.ts";
import {
  type Asker,
  answerOf,
  cancelled,
  isNo,
  isYes,
  keyOf,
  type PendingQuestion,
  type Permission,
  refused,
  saidBy,
} from "./asking.ts";
import { changedParts, type ToolDefinition } from "./definition.ts";
import { maxWaitingCalls } from "./limits.ts";
import type { Refusals } from "./refusals.ts";

/** A call whose question is in the queue. */
interface Waiting {
  digests: ToolDefinition["digests"];
  queued: QueuedQuestion;
  /** Whether a person who was asked about this call here has said no. */
  isRefusedHere?: boolean;
}

interface QueuedQuestionsOptions {
  /** Returns who can be asked now. */
  asker: () => Asker | undefined;
  /** Limits the questions to a person to one at a time. */
  turns: Semaphore;
  refusals: Refusals;
}

export class QueuedQuestions {
  readonly #options: QueuedQuestionsOptions;
  /** The calls in the queue by the key of their tool. */
  readonly #waiting = new Map<string, Set<Waiting>>();
  /** Limits the calls in the queue, by the signal that all calls of one execution share. */
  readonly #places = new WeakMap<AbortSignal, Semaphore>();

  constructor(options: QueuedQuestionsOptions) {
    this.#options = options;
  }

  placesOf(signal: AbortSignal | undefined): Semaphore {
    const places = (signal && this.#places.get(signal)) ?? new Semaphore(maxWaitingCalls);
    if (signal) this.#places.set(signal, places);
    return places;
  }

  /**
   * Adds the question to the queue, and waits for the decision. Returns what `allow` makes of a yes. Throws POLICY_DENIED if a person says no, nobody decides in time, or this code has asked too often.
   */
  async ask(
    queue: ApprovalQueue,
    made: MadeCall,
    asked: PendingQuestion,
    allow: (scope: "once" | "session") => Promise<Permission>,
  ): Promise<Permission> {
    const { refusals } = this.#options;
    const { question, definition, context } = asked;
    const key = keyOf(question);
    const standing = refusals.standing(key, context.signal);
    const refusal = standing && isNo(standing.how) ? refused(asked, standing.how, standing.why) : undefined;
    // A call that was approved stays so, whatever was said about others since. An execution that is continued asks again.
    if (refusal && !(await queue.isApproved(made))) throw refusal;
    refusals.asked(context.signal);
    await turnFor(question.args);
    const queued = await queue.add(question, boundTo(definition, question.args), made);
    if (refusal && queued.isOpen) {
      await queued.withdraw();
      throw refusal;
    }
    const waiting: Waiting = { digests: definition.digests, queued };
    const ofTool = this.#waiting.get(key) ?? new Set();
    this.#waiting.set(key, ofTool.add(waiting));
    let scope: "once" | "session";
    try {
      scope = await this.#decided(waiting, asked);
    } finally {
      ofTool.delete(waiting);
      if (ofTool.size === 0) this.#waiting.delete(key);
    }
    const allowed = await allow(scope);
    if ("changed" in allowed) await queued.withdraw();
    else if (scope === "session") settle(ofTool, definition);
    return allowed;
  }

  /** Waits until the question leaves the queue. */
  async #decided(waiting: Waiting, asked: PendingQuestion): Promise<"once" | "session"> {
    const { queued } = waiting;
    const { signal } = asked.context;
    const ended = new AbortController();
    const over = Promise.withResolvers<never>();
    const cancel = () => over.reject(cancelled(asked.question));
    // The asker is not waited for: without an answer, the question stays in the queue.
    this.#askMeanwhile(waiting, asked, ended.signal).catch(over.reject);
    if (signal?.aborted) cancel();
    signal?.addEventListener("abort", cancel, { once: true });
    let verdict: Verdict;
    try {
      verdict = await Promise.race([queued.verdict, over.promise]);
    } catch (error) {
      if (signal?.reason === continuesElsewhere) queued.leave();
      else await queued.withdraw().catch(() => {});
      throw error;
    } finally {
      signal?.removeEventListener("abort", cancel);
      ended.abort(decidedElsewhere);
    }
    if (verdict.state === "approved") return verdict.scope;
    throw this.#refusalOf(verdict, asked, waiting);
  }

  /** Asks a person who can be reached now, and records the answer. Rejects if it cannot be recorded. */
  async #askMeanwhile(waiting: Waiting, asked: PendingQuestion, ended: AbortSignal): Promise<void> {
    const { queued } = waiting;
    if (!queued.isOpen) return;
    const { turns, asker: whom, refusals } = this.#options;
    const { question, context } = asked;
    const { signal, origin = signal } = context;
    const key = keyOf(question);
    const both = signal ? AbortSignal.any([signal, ended]) : ended;
    const turn = turns.acquire(both);
    if (turn && !(await turn)) return;
    try {
      const asker = whom();
      if (!queued.isOpen || both.aborted || !asker || refusals.standing(key, signal) !== undefined) return;
      const shown = { ...question, changed: queued.changed ?? question.changed };
      const answer = await answerOf(asker, shown, { signal: both, origin }, () => undefined).catch((error: unknown) => {
        if (!both.aborted) throw error;
      });
      if (answer === undefined) return;
      const said = saidBy(answer);
      if (!isYes(answer)) refusals.refused(key, signal, answer);
      waiting.isRefusedHere = said?.state === "denied";
      if (said && said.state !== "expired") await queued.decide(said);
    } finally {
      turns.release();
    }
  }

  #refusalOf(
    verdict: Exclude<Verdict, { state: "approved" }>,
    asked: PendingQuestion,
    { isRefusedHere }: Waiting,
  ): ClaudikinsError {
    const { refusals } = this.#options;
    const { question, context } = asked;
    const { signal } = context;
    if (verdict.state === "withdrawn") return cancelled(question);
    if (verdict.state === "expired") {
      const after = waitText(verdict.afterMs);
      return refused(
        asked,
        "late",
        `was not called: nobody decided about it within ${after}, so the question has expired`,
      );
    }
    if (isRefusedHere) return refused(asked, "no");
    const standing = refusals.standing(keyOf(question), signal);
    if (standing?.how === "declined") return refused(asked, "declined", standing.why);
    // A denial elsewhere also decides the other open questions about the tool, and counts once.
    if (!standing || !isNo(standing.how)) refusals.refused(keyOf(question), signal, "no");
    return refused(asked, "no");
  }
}

/** Settles the questions about a tool that was just allowed for the session. */
function settle(waiting: ReadonlySet<Waiting>, { digests }: ToolDefinition): void {
  for (const each of waiting) {
    if (changedParts(digests, each.digests).length > 0) continue;
    // A question that cannot be settled stays open.
    each.queued.decide({ state: "approved", scope: "session" }).catch(() => {});
  }
}
