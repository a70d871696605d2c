/** The places of programs that run. While a program waits for a person, another one runs in its place. */
import { Semaphore } from "../base/semaphore.ts";
import type { Clock } from "../base/time-limit.ts";
import { maxProgramsWithoutPlace } from "./limits.ts";

/** The place of one program. The program keeps it while it waits for a person. */
export interface ProgramPlace extends Clock {
  /** Parks the program after a while, if it still waits. */
  parkLater(): void;
  end(): void;
}

export class Places {
  readonly #semaphore: Semaphore;
  readonly #parkAfterMs: number;
  /** Programs that have left their place. */
  #waiting = 0;

  constructor(count: number, parkAfterMs: number) {
    this.#semaphore = new Semaphore(count);
    this.#parkAfterMs = parkAfterMs;
  }

  /** Waits for a place, and gives it to `run`. Undefined if `signal` or `close` ended the wait. */
  async inTurn<T>(signal: AbortSignal | undefined, run: () => Promise<T>): Promise<T | undefined> {
    if ((await this.#semaphore.acquire(signal)) === false) return undefined;
    try {
      return await run();
    } finally {
      this.#semaphore.release();
    }
  }

  close(): void {
    this.#semaphore.close();
  }

  /** The place of a program that has its turn. `park` is called when it has waited for a while. Call `end` when it has ended. */
  place(park: () => void): ProgramPlace {
    let holds = 0;
    let hasLeft = false;
    let hasEnded = false;
    let timer: Timer | undefined;
    const comeBack = () => {
      clearTimeout(timer);
      if (!hasLeft) return;
      hasLeft = false;
      this.#waiting -= 1;
      this.#semaphore.take();
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
        this.#semaphore.release();
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
