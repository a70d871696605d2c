/** The kept texts of labelled data, which are searched for in the arguments of calls. */
import { parsedJson } from "../../base/json-object.ts";
import { sha256 } from "../../base/sha256.ts";
import type { Label } from "../../config/policy.ts";
import { maxReadChars, maxSoughtLetters, maxTextLeaves } from "../limits.ts";
import { isFreeText, lettersOf } from "./letters.ts";
import { type DataRecord, recordsOf } from "./records.ts";

/** Characters of data that are kept for all calls of a program, and for everything that a session has seen. */
const maxKeptReadChars = 8_000_000;

/** Sentences of a stranger's text that are searched for the one that a question quotes. */
const maxSearchedSentences = 10_000;

export type DataLabel = Exclude<Label, "public">;

/** Where a text comes from. */
export interface Origin {
  source: string;
  labels: ReadonlySet<DataLabel>;
  /** The text of the program that showed it in its outcome, if the model sent that program. */
  shownBy?: string | undefined;
}

/** A text, or a function that makes it when it is needed. Until then, the function keeps everything that it uses in memory. */
export type TextSource = string | (() => string);

/** The server of a source such as `crm.get_customer`. */
export const serverOf = (source: string) => source.split(".", 1)[0] ?? "";

/** A found part of a text, in the form that a person is shown. */
export interface Found extends Origin {
  words: string;
}

export class KnownTexts {
  /** From the oldest to the newest. */
  #texts: KnownText[] = [];
  #chars = 0;
  /** The labels of data whose text is not kept. */
  readonly #unknown = new Set<DataLabel>();

  /** `size` is the approximate length of the text. */
  add(origin: Origin, size: number, text: TextSource): void {
    if (size > maxReadChars || this.#chars + size > maxKeptReadChars) {
      this.addUnknown(origin.labels);
      return;
    }
    this.#chars += size;
    this.#texts.push(new KnownText(origin, size, text));
  }

  /**
   * Adds the texts of a program that has ended. A text that several programs have read is kept once. The oldest texts are dropped if there is
   * no room.
   */
  addAll(others: KnownTexts): void {
    this.addUnknown(others.#unknown);
    const texts = new Map<string, KnownText>();
    for (const text of [...this.#texts, ...others.#texts]) {
      const same = texts.get(text.identity);
      texts.delete(text.identity);
      texts.set(text.identity, same ?? text);
    }
    this.#texts = [...texts.values()];
    this.#chars = this.#texts.reduce((sum, { size }) => sum + size, 0);
    while (this.#chars > maxKeptReadChars) this.#chars -= this.#texts.shift()?.size ?? 0;
  }

  /** Data with these labels was read, and its text is not known. */
  addUnknown(labels: Iterable<DataLabel>): void {
    for (const label of labels) this.#unknown.add(label);
  }

  /** Whether texts with this label are missing. */
  lacks(label: DataLabel): boolean {
    return this.#unknown.has(label);
  }

  of(label: DataLabel): KnownText[] {
    return this.#texts.filter(({ origin }) => origin.labels.has(label));
  }

  get all(): readonly KnownText[] {
    return this.#texts;
  }
}

export class KnownText {
  readonly origin: Origin;
  readonly size: number;
  #text: TextSource;
  #identity: string | undefined;
  #letters: string | undefined;
  /** The words with letters and digits. */
  #codes: string | undefined;
  #isRead = false;
  #records: readonly DataRecord[] | undefined;
  /** Whole values, as letters. */
  readonly #fields = new Set<string>();
  /** Texts in which somebody may have written anything. */
  readonly #prose: { text: string; letters: string }[] = [];

  constructor(origin: Origin, size: number, text: TextSource) {
    this.origin = origin;
    this.size = size;
    this.#text = text;
  }

  get #whole(): string {
    if (typeof this.#text === "function") this.#text = this.#text();
    return this.#text;
  }

  /** The same for equal texts of one origin only. A server cannot write two texts that share it, since it is a SHA-256 hash. */
  get identity(): string {
    const { source, labels, shownBy } = this.origin;
    this.#identity ??= sha256(JSON.stringify([source, [...labels].sort(), shownBy]) + this.#whole);
    return this.#identity;
  }

  /** Whether the text contains the value unchanged, or as JSON in JSON. This takes 1 ms for a megabyte; comparing letters takes 40 ms. */
  hasValue(value: string): boolean {
    const once = JSON.stringify(value).slice(1, -1);
    return (
      this.#whole.includes(once) || (/["\\]/.test(once) && this.#whole.includes(JSON.stringify(once).slice(1, -1)))
    );
  }

  /** Whether the value stands alone in the text: between quotes, or in a table. */
  hasAlone(value: string): boolean {
    const escaped = RegExp.escape(value);
    return new RegExp(`["\\\\,;|:\\n\\t>] ?${escaped} ?(?:["\\\\,;|<\\n\\t]|$)`).test(this.#whole);
  }

  /** Whether the letters are in the text. */
  has(letters: string): boolean {
    this.#letters ??= lettersOf(this.#whole);
    return this.#letters.includes(letters.slice(0, maxSoughtLetters));
  }

  /** Whether the number is in the text, as it is written or as its digits. Digits inside a longer number do not count. */
  hasNumber(number: string): boolean {
    const forms = [number, lettersOf(number)].map((form) => RegExp.escape(form));
    return new RegExp(`(?<![\\d.])(?:${forms.join("|")})(?![\\d]|\\.\\d)`).test(this.#whole);
  }

  /** Whether the letters are a part of a code, such as `4471-QUARTZ`. */
  hasInCode(letters: string): boolean {
    this.#codes ??= (this.#whole.match(/[\p{L}\p{N}]+(?:[-_][\p{L}\p{N}]+)*/gu) ?? [])
      .filter((word) => /\p{N}/u.test(word) && /\p{L}/u.test(word))
      .map(lettersOf)
      .join(" ");
    return this.#codes.includes(letters);
  }

  /** Whether the letters are a whole value of the data, such as the sender of a mail. */
  hasField(letters: string): boolean {
    this.#read();
    return this.#fields.has(letters);
  }

  get records(): readonly DataRecord[] {
    this.#records ??= recordsOf(parsedJson(this.#whole), serverOf(this.origin.source));
    return this.#records;
  }

  /** The words around the letters in a text that was written freely. Undefined if no such text contains them. */
  wordsAround(letters: string): string | undefined {
    this.#read();
    const sought = letters.slice(0, maxSoughtLetters);
    const found = this.#prose.find((each) => each.letters.includes(sought));
    return found && excerpt(found.text, sought);
  }

  #read(): void {
    if (this.#isRead) return;
    this.#isRead = true;
    const text = this.#whole;
    let left = maxTextLeaves;
    const visit = (value: unknown): void => {
      if (left-- <= 0) return;
      if (typeof value === "string") this.#addLeaf(value, visit);
      else if (typeof value === "number") this.#fields.add(lettersOf(String(value)));
      else if (typeof value === "object" && value !== null) for (const each of Object.values(value)) visit(each);
    };
    visit(parsedJson(text) ?? text);
  }

  #addLeaf(leaf: string, visit: (value: unknown) => void): void {
    const inside = /^\s*[[{]/.test(leaf) ? parsedJson(leaf) : undefined;
    if (inside !== undefined) {
      visit(inside);
      return;
    }
    if (!isFreeText(leaf)) {
      this.#fields.add(lettersOf(leaf));
      for (const address of addressesIn(leaf)) this.#fields.add(lettersOf(address));
      return;
    }
    // The lines with which the text of a mail or a ticket begins.
    for (const [, value = ""] of (leaf.split(/\n[ \t\r]*\n/, 1)[0] ?? "").matchAll(headerLine)) {
      this.#fields.add(lettersOf(value));
      for (const address of addressesIn(value)) this.#fields.add(lettersOf(address));
    }
    this.#prose.push({ text: leaf, letters: lettersOf(plainAddresses(leaf)) });
  }
}

const headerLine = /^[ \t]{0,9}(?:from|sender|reply-to|author|user|login|to|cc)[ \t]{0,9}:[ \t]{0,9}(\S.*)$/gim;

function addressesIn(text: string): string[] {
  return text.split(/[\s<>"'(),;]+/).filter((word) => /.@./.test(word));
}

/**
 * Replaces spelled addresses, such as `eve at example dot com`, by the addresses that they mean. Repetitions have bounds, because strangers
 * write the text.
 */
function plainAddresses(text: string): string {
  return text
    .replace(/\s{0,9}[([{<]\s{0,9}(?:at|@)\s{0,9}[)\]}>]\s{0,9}/gi, "@")
    .replace(/\s{1,9}at\s{1,9}(?=\S{1,99}(?:\s{0,9}[([{]?\s{0,9}dot\b|\.))/gi, "@")
    .replace(/\s{0,9}[([{<]\s{0,9}dot\s{0,9}[)\]}>]\s{0,9}/gi, ".")
    .replace(/\s{1,9}dot\s{1,9}(?<=@\S{0,99}\s{1,9}dot\s{1,9})/gi, ".");
}

/** The sentence around the letters, shortened. */
function excerpt(text: string, letters: string): string {
  const sentences = text.split(/(?<=[!?\n]|\.\s)/, maxSearchedSentences);
  const isLong = (sentence: string) => sentence.length >= letters.length;
  const holds = (sentence: string) => isLong(sentence) && lettersOf(plainAddresses(sentence)).includes(letters);
  const found = sentences.find(holds) ?? text;
  const line = found.replace(/\s+/g, " ").trim();
  return line.length > 160 ? `${line.slice(0, 159)}…` : line;
}
