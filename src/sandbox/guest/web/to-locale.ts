/** `toLocaleString` and similar methods for the built-in prototypes. The engine's own methods ignore the locale. */

import { compute } from "../compute.ts";
import { localeCompare } from "./collator.ts";
import { askIntl, type IntlSpec, localeNames, numericArgument, specOf } from "./intl-request.ts";

const { apply } = Reflect;
const { valueOf: numberValue } = Number.prototype;
const { valueOf: bigintValue } = BigInt.prototype;
const { getTime } = Date.prototype;

function formatNumber(value: unknown, locales: unknown, options: unknown): string {
  return askIntl(specOf("NumberFormat", locales, options), "format", numericArgument(value));
}

function formatDate(date: Date, defaults: NonNullable<IntlSpec["defaults"]>, locales: unknown, options: unknown) {
  const time = apply(getTime, date, []);
  if (Number.isNaN(time)) return "Invalid Date";
  return askIntl<string>({ ...specOf("DateTimeFormat", locales, options), defaults }, "format", time);
}

function changeCase(text: string, upper: boolean, locales: unknown): string {
  const names = localeNames(locales);
  if (names.length === 0) return upper ? text.toUpperCase() : text.toLowerCase();
  return compute("localeCase", { text, upper, locales: names });
}

function joined(items: ArrayLike<unknown>, locales: unknown, options: unknown): string {
  return Array.from(items, (item) =>
    item === undefined || item === null
      ? ""
      : (item as { toLocaleString(locales: unknown, options: unknown): string }).toLocaleString(locales, options),
  ).join(",");
}

const methods: [object, Record<string, unknown>][] = [
  [
    Number.prototype,
    {
      toLocaleString(this: number, locales?: unknown, options?: unknown) {
        return formatNumber(apply(numberValue, this, []), locales, options);
      },
    },
  ],
  [
    BigInt.prototype,
    {
      toLocaleString(this: bigint, locales?: unknown, options?: unknown) {
        return formatNumber(apply(bigintValue, this, []), locales, options);
      },
    },
  ],
  [
    Date.prototype,
    {
      toLocaleString(this: Date, locales?: unknown, options?: unknown) {
        return formatDate(this, "all", locales, options);
      },
      toLocaleDateString(this: Date, locales?: unknown, options?: unknown) {
        return formatDate(this, "date", locales, options);
      },
      toLocaleTimeString(this: Date, locales?: unknown, options?: unknown) {
        return formatDate(this, "time", locales, options);
      },
    },
  ],
  [
    String.prototype,
    {
      localeCompare(this: unknown, other: unknown, locales?: unknown, options?: unknown) {
        return localeCompare(String(this), String(other), locales, options);
      },
      toLocaleUpperCase(this: unknown, locales?: unknown) {
        return changeCase(String(this), true, locales);
      },
      toLocaleLowerCase(this: unknown, locales?: unknown) {
        return changeCase(String(this), false, locales);
      },
    },
  ],
  ...([Array.prototype, Object.getPrototypeOf(Uint8Array.prototype) as object].map((prototype): [object, object] => [
    prototype,
    {
      toLocaleString(this: ArrayLike<unknown>, locales?: unknown, options?: unknown) {
        return joined(this, locales, options);
      },
    },
  ]) as [object, Record<string, unknown>][]),
];

/** Replaces the engine's methods. */
export function defineLocaleMethods(): void {
  for (const [prototype, replaced] of methods) {
    for (const [name, value] of Object.entries(replaced)) {
      Object.defineProperty(prototype, name, { value, writable: true, configurable: true });
    }
  }
}
