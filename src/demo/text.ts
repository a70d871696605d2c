/** Text reduced to what a keyboard has, for e-mail addresses, searching and the chart's small alphabet. */

const UNDECOMPOSED: Readonly<Record<string, string>> = { ß: "ss", ł: "l", ø: "o", æ: "ae", œ: "oe", đ: "d" };

/** Lower case without accents: "Łukasz Müller" becomes "lukasz muller". */
export function plainText(text: string): string {
  return text
    .toLowerCase()
    .normalize("NFD")
    .replace(/\p{M}/gu, "")
    .replace(/[ßłøæœđ]/g, (letter) => UNDECOMPOSED[letter] ?? letter);
}
