/** Texts as they are compared: by their letters and digits, so that neither punctuation nor the escapes of JSON matter. */
import { maxFieldChars } from "../limits.ts";

/** The letters and digits of a text. */
export function lettersOf(text: string): string {
  return text
    .replace(/\\+(?:u[\da-f]{4}|.)/gi, "")
    .replace(/[^\p{L}\p{N}]+/gu, "")
    .toLowerCase();
}

export function wordsIn(text: string): string[] {
  return text.match(/[^\s"'`()[\]{}<>,;:!?|=&/\\]+/g) ?? [];
}

/** Whether somebody may have written anything in a text, because it is longer than a name or an address. */
export function isFreeText(text: string): boolean {
  return text.length > maxFieldChars || /\n|[.!?] |\s\S+\s\S+\s\S+\s\S+/.test(text.trim());
}
