/** Asks the host for what `Intl` computes. Locales, options and arguments are converted to JSON. */
import { compute } from "../host.ts";
import type { DateDefaults, IntlArgument } from "./intl-members.ts";

export interface IntlSpec {
  type: string;
  locales?: string[];
  options?: object;
  defaults?: DateDefaults;
}

export function specOf(type: string, locales: unknown, options: unknown): IntlSpec {
  const spec: IntlSpec = { type };
  const names = localeNames(locales);
  if (names.length > 0) spec.locales = names;
  if (options === null) throw new TypeError("null is not an options object");
  if (options !== undefined) spec.options = options as object;
  return spec;
}

export function askIntl<T>(spec: IntlSpec, method: string, ...args: unknown[]): T {
  const given = args.map((value) => argumentOf(spec.type, value));
  return (compute("intl", { ...spec, method, args: given }) ?? undefined) as T;
}

/** Lists and durations are passed as they are, and other objects, such as a Date, as a primitive. */
function argumentOf(type: string, given: unknown): IntlArgument {
  if (type === "ListFormat") return { value: [...(given as Iterable<unknown>)] };
  if (type === "DurationFormat") return { value: given };
  const value = typeof given === "object" && given !== null ? given.valueOf() : given;
  switch (typeof value) {
    case "undefined":
      return {};
    case "number":
      return { number: Object.is(value, -0) ? "-0" : `${value}` };
    case "bigint":
      return { bigint: `${value}` };
    case "boolean":
      return { value };
    default:
      return value === null ? { value } : { text: `${value}` };
  }
}

export function localeNames(locales: unknown): string[] {
  if (locales === undefined) return [];
  if (locales === null) throw new TypeError("null is not a locale");
  if (typeof locales === "string") return [locales];
  if (typeof locales !== "object") return [];
  const given = Symbol.iterator in locales ? [...(locales as Iterable<unknown>)] : [locales];
  return given.map((locale) => {
    if (typeof locale === "string" || (typeof locale === "object" && locale !== null)) return String(locale);
    throw new TypeError(`A locale must be a string, not ${String(locale)}`);
  });
}
