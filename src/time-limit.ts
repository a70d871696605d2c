/** A time that can stand still: while a server waits for a person, nobody else's time runs out. */

/** What may be held by several at once, and goes on when the last of them lets go. */
export interface Clock {
  hold(): void;
  release(): void;
}

/** How long a person may take to answer. */
export const personMs = 3_600_000;

/** The longest time that a timer takes. */
export const maxTimerMs = 2_147_483_647;

export class TimeLimit implements Clock {
  readonly #over: () => void;
  readonly #ms: number;
  #restMs: number;
  #holds = 0;
  #runningSince = 0;
  #ended = false;

  /** `over` is called once, when so much time has passed while nobody held it. */
  constructor(ms: number, over: () => void) {
    this.#ms = Math.min(Math.max(ms, 0), maxTimerMs);
    this.#restMs = this.#ms;
    this.#over = over;
    this.#run();
  }

  /** When the time is over, if nobody holds it any more; in milliseconds since 1970. */
  get deadline(): number {
    return this.#holds > 0 ? Number.POSITIVE_INFINITY : Date.now() + this.endsAt - performance.now();
  }

  /** The same by the clock that nobody sets, `performance.now()`. */
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

  /** The whole time again, from now on. */
  restart(): void {
    this.#restMs = this.#ms;
    this.#runningSince = performance.now();
  }

  end(): void {
    this.#ended = true;
    alarm.remove(this);
  }

  /** For who watches the time. */
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

/** One timer for all limits that run: with one each, a thousand calls would take a thousand. */
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
    // Rounded up, or it would come a moment too early and have to be set again.
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
      // Each by itself: what one of them throws is not the others' business.
      queueMicrotask(() => limit.ring());
    }
    this.#set(next);
  }
}

const alarm = new Alarm();
