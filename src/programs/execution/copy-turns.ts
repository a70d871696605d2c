/**
 * Turns of the programs of a process to be copied. A copy is in memory until it is written, so only copies of programs that are small
 * together are made at once. A program that writes much waits for longer.
 */
import { megabyte } from "../../base/units.ts";
import type { CopyTurn } from "../../sandbox/checkpoint-contract.ts";

/** Memory of the programs that are copied at the same time. A larger program is copied alone. */
const maxCopiedBytes = 64 * megabyte;

/** What one program may write at once to be saved. */
const savedBurstBytes = 128 * megabyte;

/** What it may write in each second afterwards. */
const savedBytesPerSecond = 4 * megabyte;

export class CopyTurns {
  #free = maxCopiedBytes;
  readonly #waiting: { bytes: number; begin: () => void }[] = [];

  /** Waits until a program with so much memory may be copied. */
  async take(memoryBytes: number): Promise<Disposable> {
    const bytes = Math.min(memoryBytes, maxCopiedBytes);
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
  #left = savedBurstBytes;
  #at = performance.now();

  spend(bytes: number): void {
    this.#left = this.#now - bytes;
    this.#at = performance.now();
  }

  /** Time until it may write again, in milliseconds. */
  get waitMs(): number {
    return Math.max(0, (-this.#now / savedBytesPerSecond) * 1_000);
  }

  get #now(): number {
    return Math.min(savedBurstBytes, this.#left + ((performance.now() - this.#at) / 1_000) * savedBytesPerSecond);
  }
}

/** A turn that ends with what it was taken for. */
export function copyTurn(isWhole: boolean, taken: Disposable): CopyTurn {
  return { isWhole, end: () => taken[Symbol.dispose]() };
}
