/** The members of `Intl` that the guest defines and the host provides. */

const formats = { format: 1, formatToParts: 1 };
const ranges = { formatRange: 2, formatRangeToParts: 2 };

/** The methods of each class beside `resolvedOptions`, with the number of their arguments. */
export const intlMethods: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  __proto__: null as never,
  DateTimeFormat: { ...formats, ...ranges },
  NumberFormat: { ...formats, ...ranges },
  PluralRules: { select: 1, selectRange: 2 },
  RelativeTimeFormat: { format: 2, formatToParts: 2 },
  ListFormat: formats,
  DurationFormat: formats,
  Collator: { compare: 2 },
  DisplayNames: { of: 1 },
  Segmenter: { segment: 1 },
};

/** The properties of `Intl.Locale`. */
export const localeParts = [
  ...["baseName", "language", "script", "region", "calendar", "collation"],
  ...["hourCycle", "caseFirst", "numeric", "numberingSystem"],
] as const;

/** The options that `toLocaleString`, `toLocaleDateString` and `toLocaleTimeString` add. */
export type DateDefaults = "all" | "date" | "time";

/** A value for `Intl`. JSON has no undefined, NaN, -0 and BigInt. */
export type IntlArgument = { text: string } | { number: string } | { bigint: string } | { value?: unknown };
