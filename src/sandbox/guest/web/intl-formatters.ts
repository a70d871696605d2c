/** The classes of `Intl`. The constructor checks the options, and the host does the formatting. */
import {
  askIntl,
  askStatic,
  dateArgument,
  type IntlSpec,
  localeNames,
  numericArgument,
  specOf,
} from "./intl-request.ts";

interface Part {
  type: string;
  value: string;
}

class Formatter {
  static readonly type: string = "";
  readonly #spec: IntlSpec;
  readonly #resolved: Record<string, unknown>;

  constructor(locales?: unknown, options?: unknown) {
    this.#spec = specOf(new.target.type, locales, options);
    this.#resolved = askIntl(this.#spec, "resolvedOptions");
  }

  protected ask<T>(method: string, ...args: unknown[]): T {
    return askIntl(this.#spec, method, ...args);
  }

  resolvedOptions(): Record<string, unknown> {
    return { ...this.#resolved };
  }

  // biome-ignore-start lint/complexity/noThisInStatic: each class answers for its own type.
  static supportedLocalesOf(locales?: unknown): string[] {
    return askStatic("supportedLocalesOf", this.type, ...localeNames(locales));
  }
  // biome-ignore-end lint/complexity/noThisInStatic: as above.
}

/** `format` is a function that does not use `this`, because it is passed to `map`. */
export class DateTimeFormat extends Formatter {
  static override readonly type = "DateTimeFormat";
  get format(): (date?: unknown) => string {
    return (date) => this.ask("format", dateArgument(date));
  }
  formatToParts(date?: unknown): Part[] {
    return this.ask("formatToParts", dateArgument(date));
  }
  formatRange(start: unknown, end: unknown): string {
    return this.ask("formatRange", dateArgument(start), dateArgument(end));
  }
  formatRangeToParts(start: unknown, end: unknown): Part[] {
    return this.ask("formatRangeToParts", dateArgument(start), dateArgument(end));
  }
}

export class NumberFormat extends Formatter {
  static override readonly type = "NumberFormat";
  get format(): (value?: unknown) => string {
    return (value) => this.ask("format", numericArgument(value));
  }
  formatToParts(value?: unknown): Part[] {
    return this.ask("formatToParts", numericArgument(value));
  }
  formatRange(start: unknown, end: unknown): string {
    return this.ask("formatRange", numericArgument(start), numericArgument(end));
  }
  formatRangeToParts(start: unknown, end: unknown): Part[] {
    return this.ask("formatRangeToParts", numericArgument(start), numericArgument(end));
  }
}

export class PluralRules extends Formatter {
  static override readonly type = "PluralRules";
  select(value: unknown): string {
    return this.ask("select", Number(value));
  }
  selectRange(start: unknown, end: unknown): string {
    return this.ask("selectRange", Number(start), Number(end));
  }
}

export class RelativeTimeFormat extends Formatter {
  static override readonly type = "RelativeTimeFormat";
  format(value: unknown, unit: unknown): string {
    return this.ask("format", Number(value), String(unit));
  }
  formatToParts(value: unknown, unit: unknown): Part[] {
    return this.ask("formatToParts", Number(value), String(unit));
  }
}

export class ListFormat extends Formatter {
  static override readonly type = "ListFormat";
  format(list: Iterable<string>): string {
    return this.ask("format", textsOf(list));
  }
  formatToParts(list: Iterable<string>): Part[] {
    return this.ask("formatToParts", textsOf(list));
  }
}

function textsOf(list: Iterable<unknown>): string[] {
  return [...list].map((text) => {
    if (typeof text !== "string") throw new TypeError("Intl.ListFormat takes only strings");
    return text;
  });
}

export class DurationFormat extends Formatter {
  static override readonly type = "DurationFormat";
  format(duration: object): string {
    return this.ask("format", duration);
  }
  formatToParts(duration: object): Part[] {
    return this.ask("formatToParts", duration);
  }
}

export class DisplayNames extends Formatter {
  static override readonly type = "DisplayNames";
  of(code: unknown): string | undefined {
    return this.ask<string | null>("of", String(code)) ?? undefined;
  }
}

interface Segment {
  segment: string;
  index: number;
  input: string;
  isWordLike?: boolean;
}

export class Segmenter extends Formatter {
  static override readonly type = "Segmenter";
  segment(text: unknown): Iterable<Segment> & { containing(index?: number): Segment | undefined } {
    const input = String(text);
    const found = this.ask<[string, number, boolean | null][]>("segment", input);
    const segments = found.map(([segment, index, isWordLike]): Segment => {
      return { segment, index, input, ...(isWordLike === null ? {} : { isWordLike }) };
    });
    return {
      [Symbol.iterator]: () => segments.values(),
      containing: (at = 0) => segments.find(({ segment, index }) => at >= index && at < index + segment.length),
    };
  }
}

export { Formatter };
