/** Asks the host for what `Intl` computes. Locales, options and arguments are converted to JSON. */
import { compute } from "../host.ts";
import type { DateDefaults, IntlArgument } from "./intl-members.ts";

export interface IntlSpec {
  type: string;
  locales?: unknown;
  options?: unknown;
  defaults?: DateDefaults;
}

/** The spec has copies, so that a formatter keeps the locales and options that it was made with. */
export function specOf(type: string, locales: unknown, options: unknown): IntlSpec {
  if (locales === null) throw new TypeError("null is not a locale");
  if (options === null) throw new TypeError("null is not an options object");
  return { type, locales: Array.isArray(locales) ? [...locales] : locales, options: options && plain(options) };
}

/** Returns the options that `Intl` would read: inherited ones too. JSON has no NaN, so numbers are passed as text. */
function plain(options: object): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  for (const name in options) {
    const value = (options as Record<string, unknown>)[name];
    if (value !== undefined) copy[name] = typeof value === "boolean" ? value : String(value);
  }
  return copy;
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
