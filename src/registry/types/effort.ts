/** Limits the work for one type. Small schemas can describe infinitely large types. */

/** Thrown if a text gets too long or takes too much work. */
export class TooMuch extends Error {}

/** Maximum number of nodes for one type, in all attempts. Real schemas take some hundreds; the maximum takes about 10 ms. */
export const maxSteps = 10_000;

export class Effort {
  #stepsLeft = maxSteps;
  #lengthLeft = 0;

  /** Starts an attempt whose text may have `maxLength` characters. */
  begin(maxLength: number): void {
    this.#lengthLeft = maxLength;
  }

  step(): void {
    this.#stepsLeft -= 1;
    if (this.#stepsLeft < 0) throw new TooMuch();
  }

  counted(text: string): string {
    this.#lengthLeft -= text.length;
    if (this.#lengthLeft < 0) throw new TooMuch();
    return text;
  }
}
