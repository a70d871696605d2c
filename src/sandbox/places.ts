/** The places of programs that run. While a program waits for a person, another one runs in its place. */
import { Semaphore } from "../base/semaphore.ts";
import type { Clock } from "../base/time-limit.ts";
import { maxProgramsWithoutPlace, programOverheadMs } from "./limits.ts";
import type { TimeShares } from "./time-shares.ts";

/** How a program takes its turn. */
export interface Turn {
  /** The caller. Different callers get places in turn, and share the time of this process. */
  key?: string | undefined;
  /** Further limits of concurrent programs. */
  others?: readonly Semaphore[] | undefined;
}

/** The place of one program. The program keeps it while it waits for a person. */
export interface ProgramPlace extends Clock {
  /** Parks the program after a while, if it still waits. */
  parkLater(): void;
  end(): void;
}

export class Places {
  readonly #semaphore: Semaphore;
  readonly #shares: TimeShares;
  readonly #parkAfterMs: number;
  /** Programs that have left their place. */
  #waiting = 0;

  constructor(count: number, shares: TimeShares, parkAfterMs: number) {
    this.#semaphore = new Semaphore(count);
    this.#shares = shares;
    this.#parkAfterMs = parkAfterMs;
  }

  /** Waits for a place, and gives it to `run`. Undefined if `signal` or `close` ended the wait. */
  async inTurn<T>(
    signal: AbortSignal | undefined,
    { key = "", others = [] }: Turn,
    run: () => Promise<T>,
  ): Promise<T | undefined> {
    const held: Semaphore[] = [];
    try {
      // The narrower limits come first, so that no place is held by a program that waits for them.
      for (const each of others) {
        if ((await each.acquire(signal, key)) === false) return undefined;
        held.push(each);
      }
      const share = this.#shares.take(key, programOverheadMs, signal);
      if (share) await share;
      if ((await this.#semaphore.acquire(signal, key)) === false) return undefined;
      held.push(this.#semaphore);
      return await run();
    } finally {
      for (const each of held) each.release();
    }
  }

  close(): void {
    this.#semaphore.close();
  }

  /** The place of a program that has its turn. `park` is called when it has waited for a while. Call `end` when it has ended. */
  place(park: () => void, { others = [] }: Turn = {}): ProgramPlace {
    const semaphores = [...others, this.#semaphore];
    let holds = 0;
    let hasLeft = false;
    let hasEnded = false;
    let timer: Timer | undefined;
    const comeBack = () => {
      clearTimeout(timer);
      if (!hasLeft) return;
      hasLeft = false;
      this.#waiting -= 1;
      for (const each of semaphores) each.take();
    };
    const parkLater = () => {
      clearTimeout(timer);
      if (holds > 0 && !hasEnded) timer = setTimeout(park, this.#parkAfterMs);
    };
    return {
      hold: () => {
        holds += 1;
        if (holds > 1 || hasEnded) return;
        parkLater();
        if (this.#waiting >= maxProgramsWithoutPlace) return;
        hasLeft = true;
        this.#waiting += 1;
        for (const each of semaphores) each.release();
      },
      release: () => {
        holds -= 1;
        if (holds === 0) comeBack();
      },
      parkLater,
      end: () => {
        hasEnded = true;
        comeBack();
      },
    };
  }
}
