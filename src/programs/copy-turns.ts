/**
 * Turns of the programs of a process to be copied. A copy is in memory until it is written, so only copies of programs that are small
 * together are made at once. A program that writes much waits for longer.
 */
import type { CopyTurn } from "../sandbox/checkpointer.ts";

const megabyte = 1_048_576;

/** Memory of the programs that are copied at the same time. A larger program is copied alone. */
const copiedBytes = 64 * megabyte;

/** What one program may write at once, and what it may write in each second afterwards. */
const burstBytes = 128 * megabyte;
const bytesPerSecond = 4 * megabyte;

export class CopyTurns {
  #free = copiedBytes;
  readonly #waiting: { bytes: number; begin: () => void }[] = [];

  /** Waits until a program with so much memory may be copied. */
  async take(memoryBytes: number): Promise<Disposable> {
    const bytes = Math.min(memoryBytes, copiedBytes);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({ bytes, begin: resolve });
    this.#next();
    await promise;
    let isOver = false;
    return {
      [Symbol.dispose]: () => {
        if (isOver) return;
        isOver = true;
        this.#free += bytes;
        this.#next();
      },
    };
  }

  #next(): void {
    for (let [first] = this.#waiting; first && first.bytes <= this.#free; [first] = this.#waiting) {
      this.#waiting.shift();
      this.#free -= first.bytes;
      first.begin();
    }
  }
}

/** The amount that one program has written. */
export class WriteBudget {
  #left = burstBytes;
  #at = performance.now();

  spend(bytes: number): void {
    this.#left = this.#now - bytes;
    this.#at = performance.now();
  }

  /** Time until it may write again, in milliseconds. */
  get waitMs(): number {
    return Math.max(0, (-this.#now / bytesPerSecond) * 1_000);
  }

  get #now(): number {
    return Math.min(burstBytes, this.#left + ((performance.now() - this.#at) / 1_000) * bytesPerSecond);
  }
}

/** A turn that ends with what it was taken for. */
export function copyTurn(isWhole: boolean, taken: Disposable): CopyTurn {
  return { isWhole, end: () => taken[Symbol.dispose]() };
}
