/** Asks a person who can be reached now whether a call may be made, and words what follows from the answer. */
import { ClaudikinsError, messageOf } from "../base/errors.ts";
import { personMs } from "../base/limits.ts";
import { type Clock, TimeLimit } from "../base/time-limit.ts";
import type { MadeCall, UnsignedDecision } from "./approval-queue.ts";
import type { ToolDefinition } from "./definition.ts";
import { type Question, questionText } from "./question.ts";
import type { Refusal } from "./refusals.ts";

/**
 * A person's answer: yes, once; yes, for the session; no; no to everything of this execution; or closed without an answer,
 * perhaps because the program has nobody to ask.
 */
export type Answer = "once" | "session" | "no" | "declined" | "cancelled";

/** Asks a person. */
export interface Asker {
  /** Rejects if the signal is aborted, or if nobody could be asked after all. */
  ask(text: string, question: Question, signal: AbortSignal, origin?: AbortSignal): Promise<Answer>;
}

export interface PermissionContext {
  /** Shared by all calls of one execution. */
  signal?: AbortSignal | undefined;
  /** Paused while a person is asked. */
  clock?: Clock | undefined;
  /** The signal of the agent's request that the call is made for. Default `signal`. */
  origin?: AbortSignal | undefined;
  /** Undefined for a call outside a program. */
  made?: MadeCall | undefined;
}

/** A yes with the definition that it counts for, or the parts of the definition that have changed since the person was asked. */
export type Permission = { allowed: ToolDefinition } | { changed: string[] };

/** A question about a call, and everything that belongs to it. */
export interface PendingQuestion {
  question: Question;
  /** The definition that the person is asked about. */
  definition: ToolDefinition;
  context: PermissionContext;
  /** How the config could allow the call. */
  hint: string;
}

/** `unreachable` is called with the reason if nobody could be asked. Throws CANCELLED if the signal is aborted. */
export async function answerOf<T>(
  asker: Asker,
  question: Question,
  { signal, origin }: PermissionContext,
  unreachable: (why: string) => T,
): Promise<Answer | "late" | T> {
  const late = new AbortController();
  const limit = new TimeLimit(personMs, () => late.abort());
  const either = signal ? AbortSignal.any([signal, late.signal]) : late.signal;
  try {
    return await asker.ask(questionText(question), question, either, origin);
  } catch (error) {
    if (signal?.aborted) throw cancelled(question);
    if (late.signal.aborted) return "late";
    return unreachable(messageOf(error));
  } finally {
    limit.end();
  }
}

export function isYes(answer: Answer | "late"): answer is "once" | "session" {
  return answer === "once" || answer === "session";
}

export const isNo = (how: Refusal) => how === "no" || how === "declined";

/** What a person said. Undefined if there was no answer. */
export function saidBy(answer: Answer | "late"): UnsignedDecision | { state: "expired" } | undefined {
  if (isYes(answer)) return { state: "approved", scope: answer };
  if (answer === "no") return { state: "denied" };
  if (answer === "declined") return { state: "denied", all: true };
  return answer === "late" ? { state: "expired" } : undefined;
}

const refusalWords: Record<Refusal, string> = {
  no: "the person said no",
  declined: "the person said no",
  cancelled: "the question was cancelled without an answer",
  late: "nobody answered the question",
};

/** The error for a call that a person has refused, or that nobody has allowed. */
export function refused(
  { question, hint }: PendingQuestion,
  how: Refusal,
  why = `was not called: ${refusalWords[how]}`,
) {
  return denied(question, why, wayOut(how, hint));
}

/** The next step. A person's no must not be worked around. */
function wayOut(how: Refusal, allowing: string): string {
  if (isNo(how)) return "Go on without it, or ask the person what to do instead.";
  if (how === "late") return allowing;
  return `Run the agent where a person can answer: without one, it cancels every question. ${allowing}`;
}

type NamedTool = Pick<Question, "server" | "tool">;

export function keyOf({ server, tool }: NamedTool): string {
  return JSON.stringify([server, tool]);
}

export function denied({ server, tool }: NamedTool, why: string, hint?: string): ClaudikinsError {
  return new ClaudikinsError("POLICY_DENIED", `${server}.${tool} ${why}`, { hint });
}

export function cancelled({ server, tool }: NamedTool): ClaudikinsError {
  return new ClaudikinsError("CANCELLED", `${server}.${tool} was cancelled`);
}
