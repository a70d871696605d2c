/** Simplifies text to ASCII letters, for e-mail addresses, search and the small font of charts. */

const UNDECOMPOSED: Readonly<Record<string, string>> = { ß: "ss", ł: "l", ø: "o", æ: "ae", œ: "oe", đ: "d" };

/** Returns the text in lower case without accents: "Łukasz Müller" becomes "lukasz muller". */
export function plainText(text: string): string {
  return text
    .toLowerCase()
    .normalize("NFD")
    .replace(/\p{M}/gu, "")
    .replace(/[ßłøæœđ]/g, (letter) => UNDECOMPOSED[letter] ?? letter);
}
