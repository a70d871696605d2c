/** The values in the arguments of a call: their parts, and the meaning of the arguments' names. */
import { readable } from "../argument-size.ts";
import { minPieceLetters, pieceLetters } from "../limits.ts";
import { lettersOf, wordsIn } from "./letters.ts";

/** Names of arguments whose meaning is kept. */
const maxKeptArgumentNames = 2_000;

/** Characters of one value that are compared. */
const maxComparedTextChars = 50_000;

/** A text or a number in the arguments, and the name under which it is there. */
export class Value {
  readonly key: string;
  readonly text: string;
  readonly isNumber: boolean;
  #letters: string | undefined;

  constructor(key: string, text: string, isNumber = false) {
    this.key = key;
    this.text = text;
    this.isNumber = isNumber;
  }

  /** Most values are never compared. */
  get letters(): string {
    this.#letters ??= lettersOf(this.text);
    return this.#letters;
  }
}

/** The texts and numbers in arguments, and the names that are not the schema's. Empty for arguments that are too large to be compared. */
export function valuesIn(args: object): Value[] {
  const values: Value[] = [];
  let left = readable.values;
  const visit = (value: unknown, key: string, depth: number): void => {
    if (left-- <= 0 || depth > readable.levels) left = -1;
    else if (typeof value === "string" || typeof value === "number")
      values.push(new Value(key, String(value).slice(0, maxComparedTextChars), typeof value === "number"));
    else if (Array.isArray(value)) for (const each of value) visit(each, key, depth);
    else if (typeof value === "object" && value !== null)
      for (const name in value) {
        if (depth > 0) values.push(new Value(key, name));
        visit((value as Record<string, unknown>)[name], name, depth + 1);
      }
  };
  visit(args, "", 0);
  return left < 0 ? [] : values;
}

export interface Piece {
  letters: string;
  /** The words as they are written. */
  words: string;
  /** Whether it is one word of letters. It counts only if it is a whole value of the data. */
  isWord: boolean;
}

/** Parts of a value that are too long to match by chance. */
export function piecesOf({ text, letters }: Value): Piece[] {
  const words = (from: number) =>
    text
      .slice(from, from + 60)
      .replace(/\s+/g, " ")
      .trim();
  if (letters.length < minPieceLetters) return [];
  if (letters.length <= pieceLetters) {
    return [{ letters, words: words(0), isWord: /^\p{L}+$/u.test(text.trim()) }];
  }
  // Numbers and addresses in a sentence come first, because a person recognises them. Addresses can contain codes too.
  const codes = text.match(/[\p{L}\p{N}]{7,}/gu) ?? [];
  const pieces = [...wordsIn(text), ...codes].flatMap((word) => {
    const each = lettersOf(word);
    return each.length >= minPieceLetters && /[\d@]/.test(word) ? [{ letters: each, words: word, isWord: false }] : [];
  });
  for (const [index, each] of windowsOf(letters).entries()) {
    const at = (index * pieceLetters) / 2;
    pieces.push({ letters: each, words: words(Math.floor((at / letters.length) * text.length)), isWord: false });
  }
  return pieces;
}

/** Pieces of one length that overlap by half. */
export function windowsOf(letters: string): string[] {
  const windows: string[] = [];
  for (let at = 0; at + pieceLetters <= letters.length; at += pieceLetters / 2)
    windows.push(letters.slice(at, at + pieceLetters));
  return windows;
}

/** The name of an argument in words of one case. */
function plainName(key: string): string {
  return key
    .replace(/([a-z])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .replaceAll("-", "_");
}

const person =
  /^(?:to|cc|bcc|(?:to_|cc_|bcc_|recipient_|user_|payee_|customer_)?(?:addresse?s?|e_?mails?|phones?|phone_number|recipients?|handles?|ibans?|accounts?|account_number|channels?|channel_ids?|chat_ids?|users?|user_ids?|usernames?|names?_of_recipient|attendees|invitees|members?|payee|beneficiary|room|assignees?|participants))$/;
const payee =
  /^(?:to|ibans?|(?:to_|recipient_|payee_)?accounts?(?:_number)?|payee|beneficiary|recipient|wallet(?:_address)?)$/;
const site =
  /^(?:ur[il]s?|href|link|webhook(?:_url)?|endpoint|host|domain|callback(?:_url)?|server|site|remote|repo_url)$/;

const message = /^(?:text|body|message|contents?|comment|title|subject|description)$/;
const file = /^(?:(?:file_?|local_|source_|attachment_)?paths?|file_?names?|files?|attachments?)$/;

interface Kinds {
  isMessage: boolean;
  isPerson: boolean;
  isPayee: boolean;
  isFile: boolean;
  isPlace: boolean;
}

const kinds = new Map<string, Kinds>();

/** The meaning of an argument's name. It is cached, because every call needs it. */
function kindsOf(key: string): Kinds {
  const known = kinds.get(key);
  if (known) return known;
  const name = plainName(key);
  const isPerson = person.test(name);
  const found = {
    isMessage: message.test(name),
    isPerson,
    isPayee: payee.test(name),
    isFile: file.test(name),
    isPlace: isPerson || site.test(name),
  };
  if (kinds.size < maxKeptArgumentNames) kinds.set(key, found);
  return found;
}

/** Whether an argument of this name is a message that others read. */
export const isMessage = (key: string): boolean => kindsOf(key).isMessage;

export const isPerson = (key: string): boolean => kindsOf(key).isPerson;

/** Whether an argument of this name says where money goes. */
export const isPayee = (key: string): boolean => kindsOf(key).isPayee;

/** Whether an argument of this name is the path of a file, whose content a tool may send. */
export const isFile = (key: string): boolean => kindsOf(key).isFile;

/** Whether an argument of this name says where the other arguments go. */
export const isPlace = (key: string): boolean => kindsOf(key).isPlace;

/** The last part of a path, the name by which a text refers to the file. */
export function fileName({ key, text }: Value): Value {
  return new Value(key, text.split(/[/\\]/).at(-1) ?? "");
}
