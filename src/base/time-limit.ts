/** A time limit that can be paused, so that it does not run out while a server waits for a person. */

/** Can be paused by several holders at once, and continues when the last of them releases it. */
export interface Clock {
  hold(): void;
  release(): void;
}

/** The longest delay of `setTimeout`, in milliseconds. */
export const maxTimerMs = 2_147_483_647;

export class TimeLimit implements Clock {
  readonly #over: () => void;
  readonly #ms: number;
  #restMs: number;
  #holds = 0;
  #runningSince = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #ended = false;

  /** Calls `over` once, when `ms` milliseconds have passed. Time in which the limit is paused does not count. */
  constructor(ms: number, over: () => void) {
    this.#ms = Math.min(Math.max(ms, 0), maxTimerMs);
    this.#restMs = this.#ms;
    this.#over = over;
    this.#run();
  }

  /** The end in milliseconds since 1970, or infinity while the limit is paused. */
  get deadline(): number {
    return this.#holds > 0 ? Number.POSITIVE_INFINITY : Date.now() + this.endsAt - performance.now();
  }

  /** The end by `performance.now()`, which is not affected when the system clock is set. */
  get endsAt(): number {
    return this.#runningSince + this.#restMs;
  }

  /** The rest of the time in milliseconds. */
  get restMs(): number {
    return this.#holds > 0 ? this.#restMs : Math.max(0, this.endsAt - performance.now());
  }

  hold(): void {
    this.#holds += 1;
    if (this.#holds > 1) return;
    clearTimeout(this.#timer);
    this.#restMs = Math.max(0, this.endsAt - performance.now());
  }

  release(): void {
    this.#holds -= 1;
    if (this.#holds === 0) this.#run();
  }

  /** Starts the time limit again from zero. */
  restart(): void {
    this.#restMs = this.#ms;
    if (this.#holds === 0) this.#run();
  }

  end(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
  }

  #run(): void {
    clearTimeout(this.#timer);
    this.#runningSince = performance.now();
    if (this.#ended) return;
    this.#timer = setTimeout(() => {
      this.#ended = true;
      this.#over();
    }, this.#restMs);
  }
}

/** Measures how long one call's time limit is paused. It forwards each pause to the limit, if there is one. */
export class PausedTime implements Clock {
  readonly #clock: Clock | undefined;
  #holds = 0;
  #since = 0;
  #pausedMs = 0;

  constructor(clock?: Clock) {
    this.#clock = clock;
  }

  /** The time in which it was paused, in milliseconds. */
  get ms(): number {
    return this.#pausedMs + (this.#holds > 0 ? performance.now() - this.#since : 0);
  }

  hold(): void {
    this.#clock?.hold();
    this.#holds += 1;
    if (this.#holds === 1) this.#since = performance.now();
  }

  release(): void {
    this.#clock?.release();
    this.#holds -= 1;
    if (this.#holds === 0) this.#pausedMs += performance.now() - this.#since;
  }
}

/** Resolves with the promise, or after `ms` if that is earlier. */
export async function atMost(ms: number, promise: Promise<unknown>): Promise<void> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, ms);
  await Promise.race([promise, late.promise]).finally(() => clearTimeout(timer));
}
