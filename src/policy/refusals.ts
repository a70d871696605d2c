/** Remembers refused questions, so that a person is not asked the same thing again and again. */

import { maxQuestions, maxRefusalsOfTool, maxRefusedTools, refusalPauseMs } from "./limits.ts";

/** `no` and `declined` are a person's answers. With `cancelled` and `late` there was no answer. */
export type Refusal = "no" | "declined" | "cancelled" | "late";

interface OfExecution {
  /** The keys of refused tools. */
  refused: Set<string>;
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

export class Refusals {
  /** By the signal that all calls of one execution share. */
  readonly #executions = new WeakMap<AbortSignal, OfExecution>();
  /** By the key of the tool. */
  readonly #times = new Map<string, Refused[]>();

  /** Why nobody is asked about the tool, as the end of a sentence, and the answer behind it. Undefined if somebody may be asked. */
  standing(key: string, signal: AbortSignal | undefined): { why: string; how: Refusal } | undefined {
    const { refused, questions, last } = this.#of(signal);
    if (last !== undefined) return { why: lastQuestion[last], how: last };
    const no = (why: string) => ({ why, how: "no" as const });
    if (refused.has(key)) return no("was not called: the person said no to this tool for the rest of this execution");
    if (refused.size >= maxRefusedTools) {
      return no(`needs confirmation, and the person has already refused ${refused.size} tools that this code called`);
    }
    if (questions >= maxQuestions) {
      return no(`needs confirmation, and this code has already asked ${questions} questions, the maximum`);
    }
    const recent = this.#recent(key);
    const latest = recent.at(-1);
    if (!latest || recent.length < maxRefusalsOfTool) return undefined;
    const why = recent.every(({ how }) => how === "no" || how === "declined")
      ? `the person said no to it ${maxRefusalsOfTool} times and is not asked again for a minute`
      : `${maxRefusalsOfTool} requests to confirm it were not approved, and nobody is asked again for a minute`;
    return { why: `was not called: ${why}`, how: latest.how };
  }

  asked(signal: AbortSignal | undefined): void {
    this.#of(signal).questions += 1;
  }

  refused(key: string, signal: AbortSignal | undefined, how: Refusal): void {
    const execution = this.#of(signal);
    execution.refused.add(key);
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
    const execution: OfExecution = { refused: new Set(), questions: 0, last: undefined };
    if (signal) this.#executions.set(signal, execution);
    return execution;
  }
}
