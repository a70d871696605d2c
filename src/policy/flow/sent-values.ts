/** The values in the arguments of a call: their parts, and what the names of arguments say about them. */
import { exceededLimit } from "../argument-size.ts";
import { maxComparedTextChars, minPieceLetters, pieceLetters } from "../limits.ts";
import { lettersOf, wordsIn } from "./letters.ts";

/** Where a text or a number is in the arguments. */
export interface Value {
  key: string;
  text: string;
  letters: string;
  isNumber: boolean;
}

/** The texts and numbers in arguments, and the names that are not the schema's. */
export function valuesIn(args: object): Value[] {
  if (exceededLimit(args) !== undefined) return [];
  const values: Value[] = [];
  const visit = (value: unknown, key: string, depth: number): void => {
    if (typeof value === "string" || typeof value === "number") {
      const text = String(value).slice(0, maxComparedTextChars);
      values.push({ key, text, letters: lettersOf(text), isNumber: typeof value === "number" });
    } else if (Array.isArray(value)) for (const each of value) visit(each, key, depth);
    else if (typeof value === "object" && value !== null)
      for (const [name, each] of Object.entries(value)) {
        if (depth > 0) values.push({ key, text: name, letters: lettersOf(name), isNumber: false });
        visit(each, name, depth + 1);
      }
  };
  visit(args, "", 0);
  return values;
}

export interface Piece {
  letters: string;
  /** As they are written. */
  words: string;
  /** Whether it is one word of letters. It counts only if it is a whole value of the data. */
  isWord: boolean;
}

/** Parts of a value that are long enough to be no chance. */
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
  // Numbers and addresses in a sentence come first, because a person recognises them. Codes stand in addresses, too.
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

/** Whether an argument of this name is what others read. */
export function isMessage(key: string): boolean {
  return /^(?:text|body|message|contents?|comment|title|subject|description)$/.test(plainName(key));
}

export function isPerson(key: string): boolean {
  return person.test(plainName(key));
}

/** Whether money goes there. */
export function isPayee(key: string): boolean {
  return payee.test(plainName(key));
}

/** Whether an argument of this name is the path of a file, whose content a tool may send. */
export function isFile(key: string): boolean {
  return /^(?:(?:file_?|local_|source_|attachment_)?paths?|file_?names?|files?|attachments?)$/.test(plainName(key));
}

/** The last part of a path. A text names a file by it. */
export function fileName(value: Value): Value {
  const text = value.text.split(/[/\\]/).at(-1) ?? "";
  return { ...value, text, letters: lettersOf(text) };
}

/** Whether an argument of this name says where the rest goes. */
export function isPlace(key: string): boolean {
  return isPerson(key) || site.test(plainName(key));
}
