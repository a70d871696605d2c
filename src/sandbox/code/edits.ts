/** Changes to a text that keep its lines, and the way back from a position after them to the one before. */

export interface Range {
  start: number;
  end: number;
}

interface Edit extends Range {
  text: string;
  /** Of edits at the same place, the lower comes first. */
  order: number;
}

export class Edits {
  readonly #edits: Edit[] = [];
  readonly #source: string;

  constructor(source: string) {
    this.#source = source;
  }

  /** Texts without line breaks around a range. Of ranges that begin together, the longer one's text comes first. */
  wrap({ start, end }: Range, before: string, after: string): void {
    this.#edits.push({ start, end: start, text: before, order: start - end });
    this.#edits.push({ start: end, end, text: after, order: start - end });
  }

  insert(at: number, text: string): void {
    this.#edits.push({ start: at, end: at, text, order: 0 });
  }

  /** Behind everything else that is put there. */
  insertLast(at: number, text: string): void {
    this.#edits.push({ start: at, end: at, text, order: Number.POSITIVE_INFINITY });
  }

  /** Another text in the place of a range, before all that begins there; its line breaks are kept behind it. */
  replace({ start, end }: Range, text: string): void {
    const breaks = this.#source.slice(start, end).replace(/[^\n]/g, "");
    this.#edits.push({ start, end, text: text + breaks, order: Number.NEGATIVE_INFINITY });
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

  /** The offset in the source that belongs to one in the changed text. */
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
    return this.#edits.sort((a, b) => a.start - b.start || a.end - b.end || compare(a.order, b.order));
  }
}

function compare(a: number, b: number): number {
  return a < b ? -1 : Number(a > b);
}
