/** `Intl` for programs in the sandbox. It never uses the locale or the time zone of this machine. */
import { type DateDefaults, withDateDefaults } from "./date-options.ts";

type Formatter = Record<string, (...args: unknown[]) => unknown>;
type Options = Record<string, unknown>;

/** Used if the program asks for no locale, or for none that is known. */
const defaultLocale = "en-US";
const defaultTimeZone = "UTC";

const maxSegmentedChars = 1_000_000;
const maxKeptFormatters = 100;
/** Longer numbers are refused, because parsing takes quadratic time. */
const maxDigits = 10_000;

/** Numbers are passed as text, so that NaN, -0 and BigInt are kept. */
type Numeric = { number: string } | { bigint: string } | { text: string };

function numeric(value: unknown): number | bigint | string {
  if (typeof value !== "object" || value === null) return Number.NaN;
  if ("number" in value) return Number(value.number);
  const digits = String("bigint" in value ? value.bigint : (value as { text?: unknown }).text);
  if (digits.length > maxDigits) throw new RangeError(`The number is too long to format: ${digits.length} characters`);
  return "bigint" in value ? BigInt(digits) : digits;
}

/** JSON has null in place of an invalid date. */
const date = (value: unknown) => (typeof value === "number" ? value : Number.NaN);
const text = (value: unknown) => String(value);
const list = (value: unknown) => (Array.isArray(value) ? value.map(String) : []);
const asIs = (value: unknown) => value;

/** The methods of each formatter, and how its arguments are read. */
const types: Record<string, { methods: string[]; read: ((value: unknown) => unknown)[] }> = {
  __proto__: null as never,
  DateTimeFormat: { methods: ["format", "formatToParts", "formatRange", "formatRangeToParts"], read: [date, date] },
  NumberFormat: { methods: ["format", "formatToParts", "formatRange", "formatRangeToParts"], read: [numeric, numeric] },
  PluralRules: { methods: ["select", "selectRange"], read: [date, date] },
  RelativeTimeFormat: { methods: ["format", "formatToParts"], read: [date, text] },
  ListFormat: { methods: ["format", "formatToParts"], read: [list] },
  DurationFormat: { methods: ["format", "formatToParts"], read: [asIs] },
  Collator: { methods: ["compare"], read: [text, text] },
  DisplayNames: { methods: ["of"], read: [text] },
  Segmenter: { methods: ["segment"], read: [text] },
};

export interface IntlRequest {
  type: string;
  locales?: string | string[];
  options?: Options;
  /** The options that `toLocaleDateString` and similar methods add. */
  defaults?: DateDefaults;
  method: string;
  args: (string | number | null | string[] | Numeric | object)[];
}

export function askIntl(request: IntlRequest): unknown {
  const { type, method, args } = request;
  const known = types[type];
  if (!known || !(known.methods.includes(method) || method === "resolvedOptions")) {
    throw new TypeError(`Intl.${type} has no ${method}`);
  }
  const formatter = formatterFor(request);
  const read = args.map((value, index) => known.read[index]?.(value));
  if (method === "segment") return segments(formatter as unknown as Intl.Segmenter, String(read[0]));
  return formatter[method]?.(...read);
}

const kept = new Map<string, Formatter>();

/** Returns a formatter. The last ones used are kept, because creating one takes much longer than using it. */
function formatterFor({ type, locales, options, defaults }: IntlRequest): Formatter {
  const key = JSON.stringify([type, locales, options, defaults]);
  const found = kept.get(key) ?? makeFormatter(type, locales, options, defaults);
  kept.delete(key);
  kept.set(key, found);
  for (const [oldest] of kept) {
    if (kept.size <= maxKeptFormatters) break;
    kept.delete(oldest);
  }
  return found;
}

function makeFormatter(type: string, locales: IntlRequest["locales"], options: Options = {}, defaults?: DateDefaults) {
  const given = type === "DateTimeFormat" ? { ...options, timeZone: options["timeZone"] ?? defaultTimeZone } : options;
  const constructors = Intl as unknown as Record<string, new (locales: string[], options: Options) => Formatter>;
  const Constructor = constructors[type];
  if (!Constructor) throw new TypeError(`Intl.${type} is not available`);
  return new Constructor(localesOf(locales), defaults ? withDateDefaults(given, defaults) : given);
}

/**
 * Returns the canonical locales, with the default at the end. Otherwise `Intl` would use this machine's locale for an unknown one.
 */
const localesOf = (locales: IntlRequest["locales"]) => [...Intl.getCanonicalLocales(locales), defaultLocale];

function segments(segmenter: Intl.Segmenter, input: string): unknown[] {
  if (input.length > maxSegmentedChars) {
    throw new RangeError(
      `The text is too long to segment: ${input.length} characters; the limit is ${maxSegmentedChars}`,
    );
  }
  return Array.from(segmenter.segment(input), ({ segment, index, isWordLike }) => [segment, index, isWordLike]);
}

/** Answers questions that need no formatter: about locales and supported values. */
export function staticIntl({ method, args }: { method: string; args: string[] }): unknown {
  const [first = "", second = ""] = args;
  switch (method) {
    case "getCanonicalLocales":
      return Intl.getCanonicalLocales(args);
    case "supportedValuesOf":
      return Intl.supportedValuesOf(first as "calendar");
    case "supportedLocalesOf":
      return (
        types[first] ? (Intl as unknown as Record<string, typeof Intl.NumberFormat>)[first] : undefined
      )?.supportedLocalesOf(args.slice(1));
    case "locale":
      return describeLocale(new Intl.Locale(first, JSON.parse(second || "{}")));
    default:
      throw new TypeError(`Intl has no ${method}`);
  }
}

function describeLocale(locale: Intl.Locale): Record<string, unknown> {
  const { baseName, language, script, region, calendar, collation, hourCycle, caseFirst, numeric, numberingSystem } =
    locale;
  const [name, maximized, minimized] = [locale, locale.maximize(), locale.minimize()].map(String);
  return {
    ...{ name, maximized, minimized, baseName, language, script, region },
    ...{ calendar, collation, hourCycle, caseFirst, numeric, numberingSystem },
  };
}

export function localeCase({ text: input, upper, locales }: { text: string; upper: boolean; locales: string[] }) {
  return upper
    ? String(input).toLocaleUpperCase(localesOf(locales))
    : String(input).toLocaleLowerCase(localesOf(locales));
}
