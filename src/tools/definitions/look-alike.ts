/** Finds names that look like other names: letters of other scripts, digits for letters, and characters that are not seen. */

/** Letters that look like Latin ones, by what they look like. The common ones of Unicode's `confusables.txt`. */
const likeLatin: Record<string, string> = {
  a: "аɑα",
  b: "ЬƄ",
  c: "сϲⅽ",
  d: "ԁⅾ",
  e: "еҽ℮є",
  f: "ſ",
  g: "ɡց",
  h: "һհ",
  i: "іıɩι",
  j: "јϳ",
  k: "κкᴋ",
  l: "1Iӏⅼ|ǀІΙ",
  m: "ⅿ",
  n: "ոռп",
  o: "0оοօσ",
  p: "рρ",
  q: "ԛզ",
  r: "гᴦ",
  s: "ѕꜱ",
  t: "τт",
  u: "υսᴜ",
  v: "νѵⅴ",
  w: "ԝա",
  x: "хⅹ×",
  y: "уүγ",
  z: "ᴢ",
  A: "АΑ",
  B: "ВΒ",
  C: "СϹ",
  E: "ЕΕ",
  H: "НΗ",
  J: "Ј",
  K: "КΚ",
  M: "МΜ",
  N: "Ν",
  O: "ОΟ",
  P: "РΡ",
  S: "Ѕ",
  T: "ТΤ",
  X: "ХΧ",
  Y: "ҮΥ",
  Z: "Ζ",
};

const latinOf = new Map(
  Object.entries(likeLatin).flatMap(([latin, others]) => Array.from(others, (other) => [other, latin] as const)),
);

/** Two names with the same skeleton look the same to a person. */
export function skeletonOf(name: string): string {
  const seen = name.normalize("NFKC").replace(/[\p{C}\p{Default_Ignorable_Code_Point}\p{M}]/gu, "");
  return Array.from(seen, (letter) => latinOf.get(letter) ?? letter).join("");
}
