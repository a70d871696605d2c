/** Texts of documents as agents read them: on one line, of bounded length, without markup. */
import { oneLine } from "../../base/visible-text.ts";

/** Markup is removed from this many times as many characters as are kept. */
const readTimes = 4;

/** A text on one line. Longer ones are cut. */
export function shortText(text: string, maxChars: number): string {
  return text.length <= maxChars && /^[!-~](?:[ -~]*[!-~])?$/.test(text) ? text : oneLine(text, maxChars);
}

/** Without tags and emphasis, and with the texts of links in place of the links. */
export function plainText(text: string, maxChars: number): string {
  const read = text.slice(0, maxChars * readTimes);
  if (!/[<[*]/.test(read)) return shortText(read, maxChars);
  const plain = read
    .replace(/<\/?[a-z][^<>]{0,200}>/gi, " ")
    .replace(/\[([^\][]{1,200})\]\([^()\s]{1,500}\)/g, "$1")
    .replaceAll("**", "");
  return shortText(plain, maxChars);
}
