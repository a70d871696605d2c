/**
 * Limits the work of conditions: a program chooses the arguments, and may choose millions of them. Steps are counted and not timed, so that the same
 * call always gets the same answer. Only patterns are timed, because no count says how long they take.
 */

/** Work of all conditions that decide about one call, of about 10 ns each. They run in the main thread, and a program chooses the arguments. */
const conditionSteps = 1_500_000;

/** Time of the patterns in these conditions, which are not counted in steps. */
const conditionMs = 50;

/** A condition has no value, such as for a comparison of a text with a number. */
export class Undecidable extends Error {}

/** The condition needs more work than is allowed. No other part of it decides instead. */
export class TooMuchWork extends Undecidable {
  constructor() {
    super("the arguments are too large for it");
  }
}

/** Counts the work of all conditions that decide about one call. */
export class Work {
  #steps: number;
  #begin: NodeJS.CpuUsage | undefined;
  /** The time on the clock at which the thread's own time may be over. */
  #endsAt: number | undefined;

  constructor(steps = conditionSteps) {
    this.#steps = steps;
  }

  /** Counts work. A step is about 10 ns. */
  take(steps: number): void {
    this.#steps -= steps;
    if (this.#steps < 0) throw new TooMuchWork();
  }

  /** Counts the work with a text. The machine handles several characters at a time. */
  read(text: string): void {
    if (text.length > 100) this.take(text.length / 10);
  }

  /** Whether the time for the patterns of the conditions is over. It is time of this thread, so that a busy machine decides nothing. */
  get isLate(): boolean {
    const now = performance.now();
    this.#begin ??= process.threadCpuUsage();
    this.#endsAt ??= now + conditionMs;
    if (now <= this.#endsAt) return false;
    const { user, system } = process.threadCpuUsage(this.#begin);
    const leftMs = conditionMs - (user + system) / 1_000;
    this.#endsAt = now + leftMs;
    return leftMs <= 0;
  }
}
