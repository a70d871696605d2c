/**
 * Replaces private data by placeholders of the same type and form, so that a recording can be shown to others. Equal values get equal
 * placeholders, so that a program still finds what belongs together.
 */

import { isObject } from "../../base/json-object.ts";
import { dayMs } from "../../base/units.ts";
import { itemsKey } from "../../sources/source.ts";

/** The first day that stands for a date, in milliseconds since 1970. */
const firstDay = Date.UTC(2000, 0, 1);

const date = /^\d{4}-\d{2}-\d{2}$/;
const moment = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}/;
const month = /^\d{4}-\d{2}$/;
const digits = /^\d+$/;
const email = /^[^\s@]+@[^\s@]+\.[^\s@]+$/;
const address = /^[a-z][a-z0-9+.-]*:\/\//i;

/** The code of a country, a currency or a language names nobody. */
const shortCode = /^[A-Z]{2,3}$/;

/** Keys whose texts say what a content block is. */
const kindKeys: ReadonlySet<string> = new Set(["type", "mimeType"]);

export class PrivateValues {
  readonly #code: string;
  /** The numbers and the names of fields in the code. */
  readonly #words: ReadonlySet<string>;
  readonly #texts = new Map<string, string>();
  readonly #numbers = new Map<number, number>();
  /** Whether a value was replaced. */
  hasReplaced = false;

  /** Values and keys that the code names itself are no secret of the data: they stay. */
  constructor(code: string) {
    this.#code = code;
    this.#words = new Set(code.match(/(?<![\w$.])[\w$]+/g));
  }

  replaced(value: unknown, key = ""): unknown {
    if (typeof value === "string") return kindKeys.has(key) ? value : this.#text(value);
    if (typeof value === "number") return this.#number(value);
    if (Array.isArray(value)) return key === itemsKey ? value : value.map((each) => this.replaced(each));
    if (!isObject(value)) return value;
    const entries = Object.entries(value).map(([name, each]) => [this.#key(name), this.replaced(each, name)]);
    return Object.fromEntries(entries);
  }

  /** A text that is JSON stays JSON. */
  #text(text: string): string {
    if (text === "" || shortCode.test(text) || this.#isNamed(text)) return text;
    const inner = /^\s*[[{]/.test(text) ? this.#json(text) : undefined;
    if (inner !== undefined) return inner;
    this.hasReplaced = true;
    const known = this.#texts.get(text) ?? placeholderOf(text, this.#texts.size + 1);
    this.#texts.set(text, known);
    return known;
  }

  #json(text: string): string | undefined {
    try {
      return JSON.stringify(this.replaced(JSON.parse(text)));
    } catch {
      return undefined;
    }
  }

  #number(number: number): number {
    if (number === 0 || this.#isNamed(String(number))) return number;
    this.hasReplaced = true;
    const known = this.#numbers.get(number) ?? this.#numbers.size + 1 + (Number.isInteger(number) ? 0 : 0.5);
    this.#numbers.set(number, known);
    return known;
  }

  /** A name of a field is no data, unless it looks like some. */
  #key(key: string): string {
    return /^[A-Za-z_$][\w$./-]*$/.test(key) && !email.test(key) ? key : this.#text(key);
  }

  #isNamed(text: string): boolean {
    return this.#code.includes(JSON.stringify(text)) || this.#code.includes(`'${text}'`) || this.#words.has(text);
  }
}

function placeholderOf(text: string, number: number): string {
  const day = new Date(firstDay + number * dayMs).toISOString();
  if (date.test(text)) return day.slice(0, 10);
  if (moment.test(text)) return text.length > 19 ? day : day.slice(0, text.length);
  if (month.test(text)) return day.slice(0, 7);
  if (digits.test(text)) return String(number).padStart(text.length, "0");
  if (email.test(text)) return `private-${number}@example.com`;
  return address.test(text) ? `https://example.com/private-${number}` : `private text ${number}`;
}
