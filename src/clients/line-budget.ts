/** How much of what a server says may be written down: much for a moment, and little for long. */

const burst = 262_144;
const perSecond = 32_768;

/** After a flood it begins again with so much, not with single lines. */
const leastToResume = perSecond;

export class LineBudget {
  #rest = burst;
  #at = performance.now();
  #isEmpty = false;

  /** False when it is too much now. */
  take(amount: number): boolean {
    if (this.isEmpty) return false;
    this.#rest -= amount;
    this.#isEmpty = this.#rest < 0;
    return true;
  }

  get isEmpty(): boolean {
    const now = performance.now();
    this.#rest = Math.min(burst, this.#rest + ((now - this.#at) / 1_000) * perSecond);
    this.#at = now;
    if (this.#rest >= leastToResume) this.#isEmpty = false;
    return this.#isEmpty;
  }
}
