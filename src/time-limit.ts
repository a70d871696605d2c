/** A time that can stand still: while a server waits for a person, nobody else's time runs out. */

/** What may be held by several at once, and goes on when the last of them lets go. */
export interface Clock {
  hold(): void;
  release(): void;
}

/** The longest time that a timer takes. */
export const maxTimerMs = 2_147_483_647;

export class TimeLimit implements Clock {
  readonly #over: () => void;
  #restMs: number;
  #holds = 0;
  #runningSince = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #ended = false;

  /** `over` is called once, when so much time has passed while nobody held it. */
  constructor(ms: number, over: () => void) {
    this.#restMs = ms;
    this.#over = over;
    this.#run();
  }

  /** When the time is over, if nobody holds it any more; in milliseconds since 1970. */
  get deadline(): number {
    return this.#holds > 0 ? Number.POSITIVE_INFINITY : this.#runningSince + this.#restMs;
  }

  hold(): void {
    this.#holds += 1;
    if (this.#holds > 1) return;
    clearTimeout(this.#timer);
    this.#restMs -= Date.now() - this.#runningSince;
  }

  release(): void {
    this.#holds -= 1;
    if (this.#holds === 0) this.#run();
  }

  end(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
  }

  #run(): void {
    this.#runningSince = Date.now();
    if (!this.#ended) this.#timer = setTimeout(this.#over, Math.min(Math.max(this.#restMs, 0), maxTimerMs));
  }
}
