/**
 * Computes what the engine cannot: formatting by locale, hashes and random bytes. It runs outside of the sandbox.
 *
 * A worker starts 8 ms earlier if it does not import `node:crypto`.
 */
import { megabyte } from "../../base/units.ts";
import { digestAlgorithms } from "../guest/kinds.ts";
import { type DateDefaults, type IntlArgument, intlMethods, localeParts } from "../guest/web/intl-members.ts";
import { base64OfLatin1, latin1OfBase64 } from "./bytes.ts";

/** Characters of the JSON of the arguments. */
const maxComputeChars = 10_000_000;

/** Random bytes of one request. */
export const maxHostRandomBytes = megabyte;

/**
 * Calls a function by name. Arguments and answer are JSON. Throws an Error; the program sees only its name and message. The
 * arguments come from untrusted code, so each function checks its own.
 */
export function compute(name: string, argsJson: string): string {
  const body = functions[name];
  if (!body) throw new Error(`there is no function ${name}`);
  if (argsJson.length > maxComputeChars) {
    throw new RangeError(
      `The input is too large: ${argsJson.length} characters; the limit is ${maxComputeChars}. Process it in parts.`,
    );
  }
  return JSON.stringify(body(JSON.parse(argsJson) as never)) ?? "null";
}

interface DigestRequest {
  algorithm: string;
  /** The key of an HMAC, in base64. Without it, the result is a plain hash. */
  key?: string;
  /** Texts, which are hashed as UTF-8, and bytes. */
  parts: ({ text: string } | { base64: string })[];
}

function digest({ algorithm, key, parts }: DigestRequest): string {
  if (!digestAlgorithms.includes(algorithm)) {
    throw new Error(`There is no digest "${algorithm}". Available: ${digestAlgorithms.join(", ")}`);
  }
  const named = algorithm as Bun.SupportedCryptoAlgorithms;
  const hash = new Bun.CryptoHasher(named, key === undefined ? undefined : Buffer.from(key, "base64"));
  for (const part of parts) {
    hash.update("text" in part ? String(part.text) : Buffer.from(String(part.base64), "base64"));
  }
  return hash.digest("base64");
}

function randomBase64({ bytes }: { bytes: number }): string {
  if (!Number.isInteger(bytes) || bytes < 0 || bytes > maxHostRandomBytes) {
    throw new RangeError(`Random bytes are limited to ${maxHostRandomBytes} at once, got ${bytes}`);
  }
  return Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString("base64");
}

/** Characters of a text that `Intl.Segmenter` splits. */
const maxSegmentedChars = 1_000_000;

/** Formatters that a worker keeps. Beyond it, all are dropped and made again when they are needed. */
const maxKeptFormatters = 100;

/** Digits of a number that `Intl` formats. Longer numbers are refused, because parsing takes quadratic time. */
const maxFormattedDigits = 10_000;

type Formatter = Record<string, (...args: unknown[]) => unknown>;
type Options = Record<string, unknown>;

/** Used if the program asks for no locale, or for none that is known. */
const defaultLocale = "en-US";
const defaultTimeZone = "UTC";

interface IntlRequest {
  type: string;
  locales?: string | string[];
  options?: Options;
  defaults?: DateDefaults;
  method: string;
  args: IntlArgument[];
}

function askIntl(request: IntlRequest): unknown {
  const { type, method, args } = request;
  const methods = intlMethods[type];
  if (!methods || !(Object.hasOwn(methods, method) || method === "resolvedOptions")) {
    throw new TypeError(`Intl.${type} has no ${method}`);
  }
  const formatter = formatterFor(request);
  const values = args.map((argument) => valueIn(argument, type));
  if (method === "segment") return segments(formatter as unknown as Intl.Segmenter, String(values[0]));
  return formatter[method]?.(...values);
}

function valueIn(argument: IntlArgument, type: string): unknown {
  if ("number" in argument) return Number(argument.number);
  if ("bigint" in argument) return BigInt(checkDigits(argument.bigint));
  if ("text" in argument) return type === "NumberFormat" ? checkDigits(argument.text) : String(argument.text);
  return argument.value;
}

function checkDigits(given: unknown): string {
  const digits = String(given);
  if (digits.length > maxFormattedDigits)
    throw new RangeError(`The number is too long to format: ${digits.length} characters`);
  return digits;
}

const kept = new Map<string, Formatter>();

/** Returns a formatter. Formatters are kept, because creating one takes 60 µs, and using it 0.3 µs. */
function formatterFor({ type, locales, options, defaults }: IntlRequest): Formatter {
  const key = JSON.stringify([type, locales, options, defaults]);
  const known = kept.get(key);
  if (known) return known;
  const made = makeFormatter(type, locales, options, defaults);
  if (kept.size === maxKeptFormatters) kept.clear();
  kept.set(key, made);
  return made;
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

const dateFields = {
  date: { method: "toLocaleDateString", any: ["weekday", "year", "month", "day"], added: ["year", "month", "day"] },
  time: {
    method: "toLocaleTimeString",
    any: ["dayPeriod", "hour", "minute", "second", "fractionalSecondDigits"],
    added: ["hour", "minute", "second"],
  },
};

/** Adds the fields that a method shows if the options ask for none (ECMA-402, ToDateTimeOptions). */
function withDateDefaults(options: Options, defaults: DateDefaults): Options {
  const { date, time } = dateFields;
  const shown = { all: [date, time], date: [date], time: [time] }[defaults];
  const refused = { all: "", date: "timeStyle", time: "dateStyle" }[defaults];
  if (options[refused] !== undefined) throw new TypeError(`${refused} is not an option of ${shown[0]?.method}`);
  const asked = [...shown.flatMap(({ any }) => any), "dateStyle", "timeStyle"];
  if (asked.some((name) => options[name] !== undefined)) return options;
  return { ...options, ...Object.fromEntries(shown.flatMap(({ added }) => added).map((name) => [name, "numeric"])) };
}

function segments(segmenter: Intl.Segmenter, input: string): unknown[] {
  if (input.length > maxSegmentedChars) {
    throw new RangeError(
      `The text is too long to segment: ${input.length} characters; the limit is ${maxSegmentedChars}`,
    );
  }
  return Array.from(segmenter.segment(input), ({ segment, index, isWordLike }) => [segment, index, isWordLike]);
}

function describeLocale(locale: Intl.Locale): Record<string, unknown> {
  const [name, maximized, minimized] = [locale, locale.maximize(), locale.minimize()].map(String);
  return { name, maximized, minimized, ...Object.fromEntries(localeParts.map((part) => [part, locale[part]])) };
}

function localeCase({ text, upper, locales }: { text: string; upper: boolean; locales: string[] }): string {
  return upper
    ? String(text).toLocaleUpperCase(localesOf(locales))
    : String(text).toLocaleLowerCase(localesOf(locales));
}

function supportedLocales({ type, locales }: { type: string; locales: string[] }): string[] {
  if (!intlMethods[type]) throw new TypeError(`There is no Intl.${type}`);
  return Intl[type as "NumberFormat"].supportedLocalesOf(locales);
}

/** The functions that the guest may call. */
const intlFunctions = {
  intl: askIntl,
  locale: ({ tag, options }: { tag: string; options?: object }) => describeLocale(new Intl.Locale(tag, options)),
  localeCase,
  supportedLocales,
  canonicalLocales: ({ locales }: { locales: string[] }) => Intl.getCanonicalLocales(locales),
  supportedValues: ({ key }: { key: "calendar" }) => Intl.supportedValuesOf(key),
};

const functions: Record<string, (args: never) => unknown> = {
  __proto__: null as never,
  ...intlFunctions,
  digest,
  base64OfLatin1,
  latin1OfBase64,
  random: randomBase64,
  randomInt: ({ min, max }: { min: number; max: number }) =>
    process.getBuiltinModule("node:crypto").randomInt(min, max),
  randomUUID: () => crypto.randomUUID(),
};
