/** `Intl`. On every machine, the default locale is en-US and the default time zone is UTC. */
import { named } from "../named.ts";
import { Collator } from "./collator.ts";
import * as formatters from "./intl-formatters.ts";
import { askStatic, localeNames } from "./intl-request.ts";
import { Locale } from "./locale.ts";

/** Makes a class callable without `new`, as DateTimeFormat, NumberFormat and Collator are. */
function callable<T extends new (...args: never[]) => object>(made: T): T {
  return new Proxy(made, { apply: (target, _, args) => new target(...(args as never[])) });
}

const members: Record<string, unknown> = named({
  DateTimeFormat: callable(formatters.DateTimeFormat),
  NumberFormat: callable(formatters.NumberFormat),
  Collator: callable(Collator),
  PluralRules: formatters.PluralRules,
  RelativeTimeFormat: formatters.RelativeTimeFormat,
  ListFormat: formatters.ListFormat,
  DurationFormat: formatters.DurationFormat,
  DisplayNames: formatters.DisplayNames,
  Segmenter: formatters.Segmenter,
  Locale,
  getCanonicalLocales: (locales?: unknown) => askStatic("getCanonicalLocales", ...localeNames(locales)),
  supportedValuesOf: (key: unknown) => askStatic("supportedValuesOf", String(key)),
});

export const intl: object = {};
for (const [name, value] of Object.entries(members)) {
  Object.defineProperty(intl, name, { value, writable: true, configurable: true });
  if (typeof value !== "function" || !("prototype" in value) || name === "Locale") continue;
  Object.defineProperty(value.prototype, Symbol.toStringTag, { value: `Intl.${name}`, configurable: true });
}
Object.defineProperty(intl, Symbol.toStringTag, { value: "Intl", configurable: true });
