/** Remembers what a person has refused, so that nobody is asked the same question over and over. */

/** Refusals of different tools, and questions of any outcome, that one execution may cost a person. */
const maxRefusals = 5;
const maxQuestions = 50;

/** Refusals of one tool within this time, from whatever execution, after which it is left alone for as long. */
const maxRepeats = 3;
const pauseMs = 60_000;

interface OfExecution {
  /** Keys of tools. */
  refused: Set<string>;
  questions: number;
  /** The person wants to hear no more questions of it. */
  isDismissed: boolean;
}

export class Refusals {
  /** By the signal that all calls of one execution share. */
  readonly #executions = new WeakMap<AbortSignal, OfExecution>();
  /** By the key of the tool: when it was refused, in milliseconds of `performance.now()`. */
  readonly #times = new Map<string, number[]>();

  /** Why the person is not asked about the tool now, as the end of a sentence; undefined where they may be. */
  standing(key: string, signal: AbortSignal | undefined): string | undefined {
    const { refused, questions, isDismissed } = this.#of(signal);
    if (isDismissed) return "has to be confirmed, and the person said no to the questions of this code";
    if (refused.has(key))
      return "was not called: the person said no to this tool, which counts until this code has ended";
    if (refused.size >= maxRefusals) {
      return `has to be confirmed, and the person has already refused ${refused.size} tools that this code called`;
    }
    if (questions >= maxQuestions) {
      return `has to be confirmed, and this code has already asked ${questions} questions, as many as it may`;
    }
    if (this.#recent(key).length < maxRepeats) return undefined;
    return `was not called: the person said no to it ${maxRepeats} times, and is not asked again for a minute`;
  }

  asked(signal: AbortSignal | undefined): void {
    this.#of(signal).questions += 1;
  }

  refused(key: string, signal: AbortSignal | undefined, { isDismissed }: { isDismissed: boolean }): void {
    const execution = this.#of(signal);
    execution.refused.add(key);
    execution.isDismissed ||= isDismissed;
    this.#times.set(key, [...this.#recent(key), performance.now()].slice(-maxRepeats));
  }

  #recent(key: string): number[] {
    const since = performance.now() - pauseMs;
    return (this.#times.get(key) ?? []).filter((at) => at > since);
  }

  /** A call without a signal is an execution of its own. */
  #of(signal: AbortSignal | undefined): OfExecution {
    const known = signal && this.#executions.get(signal);
    if (known) return known;
    const execution = { refused: new Set<string>(), questions: 0, isDismissed: false };
    if (signal) this.#executions.set(signal, execution);
    return execution;
  }
}
