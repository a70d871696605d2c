/** Reduces texts to the letters and digits by which they are compared, so that punctuation and JSON escapes do not matter. */

/** Characters of the longest value that counts as one fact, such as the name and address of a sender. A longer one is free text. */
const maxFieldChars = 120;

/** The letters and digits of a text. URIs are decoded first. */
export function lettersOf(text: string): string {
  return withoutPercents(text)
    .replace(/\\+(?:u[\da-f]{4}|.)/gi, "")
    .replace(/[^\p{L}\p{N}]+/gu, "")
    .toLowerCase();
}

/**
 * The text of a URI or of a part of one. It may be encoded twice, as in the address of a page that names another. Invalid bytes
 * do not hide the others.
 */
function withoutPercents(text: string): string {
  let decoded = text;
  for (let times = 0; times < 2 && /%[0-9a-f]{2}/i.test(decoded); times++) {
    decoded = decoded.replace(/(?:%[0-9a-f]{2})+/gi, (each) =>
      Buffer.from(each.replaceAll("%", ""), "hex").toString("utf8"),
    );
  }
  return decoded;
}

export function wordsIn(text: string): string[] {
  return text.match(/[^\s"'`()[\]{}<>,;:!?|=&/\\]+/g) ?? [];
}

/** Whether a text is free text, because it is longer than a name or an address. */
export function isFreeText(text: string): boolean {
  return text.length > maxFieldChars || /\n|[.!?] |\s\S+\s\S+\s\S+\s\S+/.test(text.trim());
}
