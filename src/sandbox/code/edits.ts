/**
 * Edits a text without changing its line numbers, and maps positions in the changed text back to the original.
 *
 * magic-string can find it only with a source map of every character, and it orders insertions at one place by when
 * they were made, while the rewrites here run in any order.
 */

export interface Range {
  start: number;
  end: number;
}

interface Edit extends Range {
  text: string;
  /** Edits at the same place are sorted by this number. */
  order: number;
}

export class Edits {
  readonly #edits: Edit[] = [];
  readonly #source: string;

  constructor(source: string) {
    this.#source = source;
  }

  /**
   * Puts texts without line breaks around a range. If ranges start together, the text of the longer one comes first.
   */
  wrap({ start, end }: Range, before: string, after: string): void {
    this.#edits.push({ start, end: start, text: before, order: start - end });
    this.#edits.push({ start: end, end, text: after, order: start - end });
  }

  insert(at: number, text: string): void {
    this.#edits.push({ start: at, end: at, text, order: 0 });
  }

  /** Inserts after everything else that is inserted there. */
  insertLast(at: number, text: string): void {
    this.#edits.push({ start: at, end: at, text, order: Number.MAX_SAFE_INTEGER });
  }

  /** Replaces a range. Its line breaks are kept after the new text. */
  replace({ start, end }: Range, text: string): void {
    const breaks = this.#source.slice(start, end).replace(/[^\n]/g, "");
    this.#edits.push({ start, end, text: text + breaks, order: Number.MIN_SAFE_INTEGER });
  }

  apply(): string {
    let done = 0;
    let result = "";
    for (const { start, end, text } of this.#sorted()) {
      result += this.#source.slice(done, start) + text;
      done = end;
    }
    return result + this.#source.slice(done);
  }

  /** The offset in the source for an offset in the changed text. */
  undo(offset: number): number {
    let shift = 0;
    for (const { start, end, text } of this.#sorted()) {
      if (offset < start + shift) break;
      if (offset < start + shift + text.length) return start;
      shift += text.length - (end - start);
    }
    return offset - shift;
  }

  #sorted(): Edit[] {
    return this.#edits.sort((a, b) => a.start - b.start || a.end - b.end || a.order - b.order);
  }
}
