/** Converts locales, options and arguments of `Intl` to JSON for the host. */
import { compute } from "../compute.ts";

export interface IntlSpec {
  type: string;
  locales?: string[];
  options?: Record<string, unknown>;
  /** The options that `toLocaleDateString` and similar methods add. */
  defaults?: "all" | "date" | "time";
}

export function specOf(type: string, locales: unknown, options: unknown): IntlSpec {
  const spec: IntlSpec = { type };
  const names = localeNames(locales);
  if (names.length > 0) spec.locales = names;
  const plain = plainOptions(options);
  if (plain) spec.options = plain;
  return spec;
}

export function askIntl<T>(spec: IntlSpec, method: string, ...args: unknown[]): T {
  return compute<T>("intl", { ...spec, method, args });
}

export function askStatic<T>(method: string, ...args: string[]): T {
  return compute<T>("intlStatic", { method, args });
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

/** Returns the options that `Intl` would read: inherited ones too, and all values but undefined as a primitive. */
function plainOptions(options: unknown): Record<string, unknown> | undefined {
  if (options === undefined) return undefined;
  if (options === null) throw new TypeError("null is not an options object");
  const plain: Record<string, unknown> = {};
  for (const name in options as object) {
    const value = (options as Record<string, unknown>)[name];
    if (value === undefined) continue;
    plain[name] = typeof value === "boolean" || Number.isFinite(value) ? value : String(value);
  }
  return plain;
}

/** Returns milliseconds, or null for an invalid date. Undefined means now. */
export function dateArgument(value: unknown): number | null {
  const time = value === undefined ? Date.now() : Number(value);
  return Number.isFinite(time) ? time : null;
}

/** Converts a number without loss: NaN, -0, BigInt, and decimals as text. */
export function numericArgument(value: unknown): object {
  const primitive =
    typeof value === "object" && value !== null ? (value as { valueOf(): unknown }).valueOf() : (value as unknown);
  if (typeof primitive === "bigint") return { bigint: `${primitive}` };
  if (typeof primitive === "string") return { text: primitive };
  const number = Number(primitive);
  return { number: Object.is(number, -0) ? "-0" : `${number}` };
}
