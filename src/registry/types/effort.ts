/** How much is done for the text of one type: schemas of a few lines can describe types without end. */

/** Thrown when a text gets too long, or takes too much work. */
export class TooMuch extends Error {}

/** Nodes that are read for one type, in all attempts together. Real schemas take some hundreds; this many take about 10 ms. */
export const maxSteps = 10_000;

export class Effort {
  #stepsLeft = maxSteps;
  #lengthLeft = 0;

  /** A new attempt: its text may have so many characters. */
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
