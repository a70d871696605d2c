/** A time limit that can be paused, so that it does not run out while a server waits for a person. */

/** Can be paused by several holders at once, and continues when the last of them releases it. */
export interface Clock {
  hold(): void;
  release(): void;
}

/** Time for a person to answer, in milliseconds. */
export const personMs = 3_600_000;

/** The longest delay of `setTimeout`, in milliseconds. */
export const maxTimerMs = 2_147_483_647;

export class TimeLimit implements Clock {
  readonly #over: () => void;
  readonly #ms: number;
  #restMs: number;
  #holds = 0;
  #runningSince = 0;
  #ended = false;

  /** Calls `over` once, when `ms` milliseconds have passed without the time that the limit was held. */
  constructor(ms: number, over: () => void) {
    this.#ms = Math.min(Math.max(ms, 0), maxTimerMs);
    this.#restMs = this.#ms;
    this.#over = over;
    this.#run();
  }

  /** The end in milliseconds since 1970, or infinity while the limit is held. */
  get deadline(): number {
    return this.#holds > 0 ? Number.POSITIVE_INFINITY : Date.now() + this.endsAt - performance.now();
  }

  /** The end by `performance.now()`, which is not affected when the system clock is set. */
  get endsAt(): number {
    return this.#runningSince + this.#restMs;
  }

  hold(): void {
    this.#holds += 1;
    if (this.#holds > 1) return;
    alarm.remove(this);
    this.#restMs = Math.max(0, this.endsAt - performance.now());
  }

  release(): void {
    this.#holds -= 1;
    if (this.#holds === 0) this.#run();
  }

  /** Starts the whole time again. */
  restart(): void {
    this.#restMs = this.#ms;
    this.#runningSince = performance.now();
  }

  end(): void {
    this.#ended = true;
    alarm.remove(this);
  }

  /** Ends the limit. Called by the alarm when the time has passed. */
  ring(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#over();
  }

  #run(): void {
    this.#runningSince = performance.now();
    if (!this.#ended) alarm.add(this);
  }
}

/** One timer for all running limits. With one timer for each, a thousand calls would need a thousand timers. */
class Alarm {
  readonly #limits = new Set<TimeLimit>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #setTo = Number.POSITIVE_INFINITY;

  add(limit: TimeLimit): void {
    this.#limits.add(limit);
    if (limit.endsAt < this.#setTo) this.#set(limit.endsAt);
  }

  remove(limit: TimeLimit): void {
    if (this.#limits.delete(limit) && this.#limits.size === 0) this.#set(Number.POSITIVE_INFINITY);
  }

  #set(at: number): void {
    clearTimeout(this.#timer);
    this.#setTo = at;
    if (at === Number.POSITIVE_INFINITY) return;
    // Rounded up. Otherwise the timer could fire just before the end and would have to be set again.
    this.#timer = setTimeout(() => this.#ring(), Math.max(0, Math.ceil(at - performance.now())));
  }

  #ring(): void {
    this.#setTo = Number.POSITIVE_INFINITY;
    const now = performance.now();
    let next = Number.POSITIVE_INFINITY;
    for (const limit of this.#limits) {
      if (limit.endsAt > now) {
        next = Math.min(next, limit.endsAt);
        continue;
      }
      this.#limits.delete(limit);
      // Each limit rings in its own microtask, so that an error of one does not affect the others.
      queueMicrotask(() => limit.ring());
    }
    this.#set(next);
  }
}

const alarm = new Alarm();

/** Resolves with the promise, or after `ms` if that is earlier. */
export async function atMost(ms: number, promise: Promise<unknown>): Promise<void> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, ms);
  await Promise.race([promise, late.promise]);
  clearTimeout(timer);
}
