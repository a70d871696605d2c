/** Offsets in a text as lines and columns. Both count from 1. */

export interface Position {
  line: number;
  column: number;
}

export class Lines {
  readonly #starts = [0];

  constructor(text: string) {
    for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) this.#starts.push(at + 1);
  }

  at(offset: number): Position {
    let [low, high] = [0, this.#starts.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#starts[middle] ?? 0) <= offset) low = middle + 1;
      else high = middle;
    }
    return { line: low, column: offset - (this.#starts[low - 1] ?? 0) + 1 };
  }

  /** A line after the last one counts as the last one. */
  offset({ line, column }: Position): number {
    return (this.#starts[line - 1] ?? this.#starts.at(-1) ?? 0) + column - 1;
  }
}
