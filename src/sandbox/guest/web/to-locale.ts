/** `toLocaleString` and similar methods for the built-in prototypes. The engine's own methods ignore the locale. */
import { compute } from "../host.ts";
import { define, named } from "../named.ts";
import { comparePlain, isPlain } from "./collator.ts";
import type { DateDefaults } from "./intl-members.ts";
import { askIntl, specOf } from "./intl-request.ts";

const { apply } = Reflect;

function changeCase(text: string, upper: boolean, locales: unknown): string {
  if (locales === undefined) return upper ? text.toUpperCase() : text.toLowerCase();
  return compute("localeCase", { text, upper, locales });
}

/** Replaces the engine's methods. */
export function defineLocaleMethods(): void {
  for (const { prototype } of [Number, BigInt]) {
    const { valueOf: primitive } = prototype;
    define(prototype, {
      toLocaleString(this: unknown, locales?: unknown, options?: unknown) {
        return askIntl(specOf("NumberFormat", locales, options), "format", apply(primitive, this, []));
      },
    });
  }
  const { getTime } = Date.prototype;
  const dateMethod = (defaults: DateDefaults) =>
    function (this: Date, locales?: unknown, options?: unknown): string {
      const time = apply(getTime, this, []);
      if (Number.isNaN(time)) return "Invalid Date";
      return askIntl({ ...specOf("DateTimeFormat", locales, options), defaults }, "format", time);
    };
  const dateMethods = {
    toLocaleString: dateMethod("all"),
    toLocaleDateString: dateMethod("date"),
    toLocaleTimeString: dateMethod("time"),
  };
  define(Date.prototype, named(dateMethods));
  define(String.prototype, {
    localeCompare(this: unknown, other: unknown, locales?: unknown, options?: unknown) {
      const left = typeof this === "string" ? this : String(this);
      const right = typeof other === "string" ? other : String(other);
      const sign = isPlain(locales, options) ? comparePlain(left, right) : undefined;
      return sign ?? askIntl(specOf("Collator", locales, options), "compare", left, right);
    },
    toLocaleUpperCase(this: unknown, locales?: unknown) {
      return changeCase(String(this), true, locales);
    },
    toLocaleLowerCase(this: unknown, locales?: unknown) {
      return changeCase(String(this), false, locales);
    },
  });
  for (const prototype of [Array.prototype, Object.getPrototypeOf(Uint8Array.prototype) as object]) {
    define(prototype, {
      toLocaleString(this: ArrayLike<Date | null | undefined>, locales?: string, options?: object) {
        return Array.from(this, (item) => item?.toLocaleString(locales, options) ?? "").join(",");
      },
    });
  }
}
