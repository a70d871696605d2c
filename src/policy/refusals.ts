/** Remembers refused questions, so that the user is not asked the same thing repeatedly, and makes the errors about them. */

import { ClaudikinsError } from "../base/errors.ts";
import { shellWord } from "../base/shell-word.ts";
import { minuteMs } from "../base/units.ts";

/** Refused tools of one execution after which it may not ask any more. */
const maxRefusedTools = 5;

/** Maximum number of questions of one execution. */
const maxQuestions = 50;

/** Refusals of one tool within `refusalPauseMs`, from any execution, after which the tool is not asked about for the same time. */
const maxRefusalsOfTool = 3;

/** The time for `maxRefusalsOfTool`. */
const refusalPauseMs = minuteMs;

/** `no` and `declined`, a no to everything, are the user's answers. With `cancelled` and `late` there was no answer. */
export type Refusal = "no" | "declined" | "cancelled" | "late";

export const isNo = (how: Refusal) => how === "no" || how === "declined";

interface OfExecution {
  /** The keys of refused tools, with the person's reasons. */
  refused: Map<string, string | undefined>;
  questions: number;
  /** The answer after which this execution asks nothing more. */
  last: Exclude<Refusal, "no"> | undefined;
}

interface Refused {
  /** In milliseconds of `performance.now()`. */
  at: number;
  how: Refusal;
}

const lastQuestion: Record<Exclude<Refusal, "no">, string> = {
  declined: "needs confirmation, and the person declined all questions from this code",
  cancelled: "needs confirmation, and this code may not ask again: a question was cancelled without an answer",
  late: "needs confirmation, and this code may not ask again: nobody answered a question",
};

interface NamedTool {
  server: string;
  /** The tool's own name. */
  tool: string;
  /** The name that agents know it by, if it is another. */
  shownAs?: string | undefined;
}

/** The name of a tool in an error. */
export function shownId({ server, tool, shownAs = tool }: NamedTool): string {
  return `${server}.${shownAs}`;
}

/** The key of a tool or a request. The method is part of it, because a tool may have the name of a request. */
export function keyOf({ server, tool, method }: NamedTool & { method?: string }): string {
  return JSON.stringify([server, tool, method]);
}

export class Refusals {
  /** By the signal that all calls of one execution share. */
  readonly #executions = new WeakMap<AbortSignal, OfExecution>();
  /** By the key of the tool. */
  readonly #times = new Map<string, Refused[]>();

  /**
   * Why the tool may not be asked about, as the end of a sentence, and the refusal behind it. Undefined if it may be asked about.
   * `isCounted` says that `countQuestion` was called for this question.
   */
  inForce(
    tool: NamedTool,
    signal: AbortSignal | undefined,
    { isCounted = false } = {},
  ): { why: string; how: Refusal } | undefined {
    const key = keyOf(tool);
    const { refused, questions, last } = this.#of(signal);
    if (last !== undefined) return { why: lastQuestion[last], how: last };
    const no = (why: string) => ({ why, how: "no" as const });
    if (refused.has(key)) {
      return no(
        `was not called: the person said no to this tool for the rest of this execution${reasonText(refused.get(key))}`,
      );
    }
    if (refused.size >= maxRefusedTools) {
      return no(`needs confirmation, and the person has already refused ${refused.size} tools that this code called`);
    }
    if (!isCounted && questions >= maxQuestions) {
      return no(`needs confirmation, and this code has already asked ${questions} questions, the maximum`);
    }
    const recent = this.#recent(key);
    const latest = recent.at(-1);
    if (!latest || recent.length < maxRefusalsOfTool) return undefined;
    const why = recent.every(({ how }) => isNo(how))
      ? `the person said no to it ${maxRefusalsOfTool} times and is not asked again for a minute`
      : `${maxRefusalsOfTool} requests to confirm it were not approved, and nobody is asked again for a minute`;
    return { why: `was not called: ${why}`, how: latest.how };
  }

  countQuestion(signal: AbortSignal | undefined): void {
    this.#of(signal).questions += 1;
  }

  /** `reason` is what the person said about it. */
  add(tool: NamedTool, signal: AbortSignal | undefined, how: Refusal, reason?: string): void {
    const key = keyOf(tool);
    const execution = this.#of(signal);
    execution.refused.set(key, reason ?? execution.refused.get(key));
    if (how !== "no") execution.last ??= how;
    this.#times.set(key, [...this.#recent(key), { at: performance.now(), how }].slice(-maxRefusalsOfTool));
  }

  #recent(key: string): Refused[] {
    const since = performance.now() - refusalPauseMs;
    return (this.#times.get(key) ?? []).filter(({ at }) => at > since);
  }

  /** A call without a signal counts as its own execution. */
  #of(signal: AbortSignal | undefined): OfExecution {
    const known = signal && this.#executions.get(signal);
    if (known) return known;
    const execution: OfExecution = { refused: new Map(), questions: 0, last: undefined };
    if (signal) this.#executions.set(signal, execution);
    return execution;
  }
}

const refusalWords: Record<Refusal, string> = {
  no: "the person said no",
  declined: "the person said no",
  cancelled: "the question was cancelled without an answer",
  late: "nobody answered the question",
};

interface RefusedQuestion {
  question: NamedTool;
  /** How the config could allow the call. */
  hint: string;
}

/** The error for a call that the user has refused, or has not allowed. `why` is the end of a sentence, `reason` the user's words. */
export function refused(
  { question, hint }: RefusedQuestion,
  {
    how,
    why = `was not called: ${refusalWords[how]}`,
    reason,
  }: { how: Refusal; why?: string; reason?: string | undefined },
): ClaudikinsError {
  return denied(question, `${why}${reasonText(reason)}`, nextStep(how, hint));
}

function reasonText(reason: string | undefined): string {
  return reason === undefined ? "" : `, with the reason ${JSON.stringify(reason)}`;
}

/** The error for a call that must be confirmed, if the user cannot be asked. `why` is the asker's reason. */
export function unreachable({ question, hint }: RefusedQuestion, why?: string): ClaudikinsError {
  if (why !== undefined) return denied(question, `needs confirmation, and nobody could be asked: ${why}`, hint);
  return denied(question, "needs a person's confirmation, and nobody can be asked here", hint);
}

/** The user's no must not be worked around. */
function nextStep(how: Refusal, allowing: string): string {
  if (isNo(how)) return "Go on without it, or ask the person what to do instead.";
  if (how === "late") return allowing;
  return `Run the agent where a person can answer: without one, it cancels every question. ${allowing}`;
}

export function denied(tool: NamedTool, why: string, hint?: string): ClaudikinsError {
  return new ClaudikinsError("POLICY_DENIED", `${shownId(tool)} ${why}`, { hint });
}

/** The error for a tool whose definition changed after it was accepted. `why` is a short sentence without its end. */
export function heldBack(tool: NamedTool, why: string): ClaudikinsError {
  const message = `${shownId(tool)} was not called: its definition changed after it was accepted (${why})`;
  const hint = `A person has to look at the change: claudikins review ${shellWord(tool.server)}`;
  return new ClaudikinsError("DEFINITION_CHANGED", message, { hint });
}

/** The error for a call whose question stays open. The same call works once it is approved. */
export function pending(tool: NamedTool, approval: string | undefined): ClaudikinsError {
  const hint = `A person decides with: claudikins approvals approve ${approval}. Then make the same call again, with the same arguments.`;
  return new ClaudikinsError("APPROVAL_PENDING", `${shownId(tool)} was not called: it waits for approval ${approval}`, {
    hint,
  });
}

export function cancelled(tool: NamedTool): ClaudikinsError {
  return new ClaudikinsError("CANCELLED", `${shownId(tool)} was cancelled`);
}
