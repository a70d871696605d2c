/** `Intl`. The host does the formatting. On every machine, the default locale is en-US and the default time zone is UTC. */
import { compute } from "../host.ts";
import { define, named } from "../named.ts";
import { compare, isPlain } from "./collator.ts";
import { intlMethods, localeParts } from "./intl-members.ts";
import { askIntl, type IntlSpec, specOf } from "./intl-request.ts";

/** Getters of functions that do not use `this`, because they are passed to `map` and `sort`. */
const bound = new Set(["DateTimeFormat.format", "NumberFormat.format", "Collator.compare"]);

/** Makes a class of `Intl`. `methods` are the names of its methods, with the number of their arguments. */
function classOf(type: string, methods: Readonly<Record<string, number>>) {
  class Formatter {
    readonly #spec: IntlSpec;
    readonly #resolved: Record<string, unknown>;
    readonly #isPlain: boolean;

    /** The host checks the locales and the options. */
    constructor(locales?: unknown, options?: unknown) {
      this.#spec = specOf(type, locales, options);
      this.#resolved = askIntl(this.#spec, "resolvedOptions");
      this.#isPlain = isPlain(locales, options);
    }
    resolvedOptions(): Record<string, unknown> {
      return { ...this.#resolved };
    }
    static supportedLocalesOf(locales?: unknown): string[] {
      return compute("supportedLocales", { type, locales });
    }
    #call(method: string, args: unknown[]): unknown {
      if (method === "compare") return compare(String(args[0]), String(args[1]), this.#isPlain, () => this.#spec);
      if (method === "segment") return segments(this.#spec, String(args[0]));
      return askIntl(this.#spec, method, ...args.slice(0, methods[method]));
    }

    static {
      for (const name of Object.keys(methods)) {
        if (bound.has(`${type}.${name}`)) {
          const getter = function (this: Formatter) {
            return (...args: unknown[]) => this.#call(name, args);
          };
          Object.defineProperty(Formatter.prototype, name, { get: getter, configurable: true });
        } else {
          const method = function (this: Formatter, ...args: unknown[]) {
            return this.#call(name, args);
          };
          define(Formatter.prototype, named({ [name]: method }));
        }
      }
    }
  }
  return Formatter;
}

function segments(spec: IntlSpec, input: string): object {
  const found = askIntl<[string, number, boolean | null][]>(spec, "segment", input).map(
    ([segment, index, isWordLike]) => ({ segment, index, input, ...(isWordLike !== null && { isWordLike }) }),
  );
  return {
    [Symbol.iterator]: () => found.values(),
    containing: (at = 0) => found.find(({ segment, index }) => at >= index && at < index + segment.length),
  };
}

/** The name of a locale and its parts. */
class Locale {
  readonly #described: Record<string, unknown>;

  constructor(tag: unknown, options?: object) {
    if (typeof tag !== "string" && !(typeof tag === "object" && tag !== null)) {
      throw new TypeError("A locale must be a string or a locale");
    }
    this.#described = compute("locale", { tag: String(tag), options });
  }
  toString(): string {
    return String(this.#described["name"]);
  }
  /** The host gets locales as JSON. */
  toJSON(): string {
    return this.toString();
  }
  maximize(): Locale {
    return new Locale(this.#described["maximized"]);
  }
  minimize(): Locale {
    return new Locale(this.#described["minimized"]);
  }

  static {
    for (const part of localeParts) {
      const get = function (this: Locale) {
        return this.#described[part];
      };
      Object.defineProperty(Locale.prototype, part, { get, configurable: true });
    }
  }
}

const classes: Record<string, new (...args: never[]) => object> = { Locale };
for (const [type, methods] of Object.entries(intlMethods)) classes[type] = classOf(type, methods);
named(classes);
for (const [type, { prototype }] of Object.entries(classes)) {
  Object.defineProperty(prototype, Symbol.toStringTag, { value: `Intl.${type}`, configurable: true });
}

/** Makes a class callable without `new`. */
function callable(name: "DateTimeFormat" | "NumberFormat" | "Collator"): object {
  return new Proxy(classes[name]!, { apply: (target, _, args) => new target(...(args as never[])) });
}

export const intl: object = define(
  {},
  {
    ...classes,
    DateTimeFormat: callable("DateTimeFormat"),
    NumberFormat: callable("NumberFormat"),
    Collator: callable("Collator"),
    ...named({
      getCanonicalLocales: (locales?: unknown) => compute("canonicalLocales", { locales }),
      supportedValuesOf: (key: unknown) => compute("supportedValues", { key: String(key) }),
    }),
  },
);
Object.defineProperty(intl, Symbol.toStringTag, { value: "Intl", configurable: true });
