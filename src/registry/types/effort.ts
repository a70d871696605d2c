/** How much is done for the text of one type: schemas of a few lines can describe types without end. */

/** Thrown when a text gets too long, or takes too much work. */
export class TooMuch extends Error {}

/** Nodes that are looked at, over all attempts for one type; those of real schemas take some hundreds. */
export const maxSteps = 30_000;

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
