/** Offsets in a text as lines and columns. Both count from 1. */

export interface Position {
  line: number;
  column: number;
}

/** A line that begins with a bracket continues the line before it, unless that one ends with a semicolon. */
export function endWithSemicolon(before: number, bracket: string, line: number): string {
  return `End line ${before} with a semicolon: without one, the ${bracket} at the beginning of line ${line} continues it.`;
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
