/** `Intl.Locale`: the name of a locale and its parts. */
import { askStatic } from "./intl-request.ts";

interface Described {
  name: string;
  maximized: string;
  minimized: string;
  [part: string]: unknown;
}

export class Locale {
  readonly #described: Described;

  constructor(tag: unknown, options: object = {}) {
    if (typeof tag !== "string" && !(typeof tag === "object" && tag !== null)) {
      throw new TypeError("A locale must be a string or a locale");
    }
    this.#described = askStatic("locale", String(tag), JSON.stringify(options));
  }
  toString(): string {
    return this.#described.name;
  }
  maximize(): Locale {
    return new Locale(this.#described.maximized);
  }
  minimize(): Locale {
    return new Locale(this.#described.minimized);
  }

  static {
    const parts = ["baseName", "language", "script", "region", "calendar", "collation", "hourCycle", "caseFirst"];
    for (const part of [...parts, "numeric", "numberingSystem"]) {
      Object.defineProperty(Locale.prototype, part, {
        get(this: Locale) {
          return this.#described[part];
        },
        configurable: true,
      });
    }
    Object.defineProperty(Locale.prototype, Symbol.toStringTag, { value: "Intl.Locale", configurable: true });
  }
}
