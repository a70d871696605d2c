/** Texts that may hold others in another form. */
import { minCodeLetters, minEncodedChars } from "../limits.ts";

const code = new RegExp(`[A-Za-z0-9+/=_-]{${minEncodedChars},}`, "g");

/** The parts of a text that look like base64 or hex. */
export function codesIn(text: string): string[] {
  return (text.match(code) ?? []).filter(isMixed);
}

/** Digits among letters in no order, as in base64 and hex. */
function isMixed(code: string): boolean {
  const changes = code.match(/[A-Z][a-z]*[0-9]|[0-9][a-z]*[A-Z]|[0-9][a-f]|[a-f][0-9]/g) ?? [];
  return changes.length >= minCodeLetters;
}

/** The texts that a text may stand for: turned around, rotated or decoded. */
export function decodedForms(text: string): string[] {
  const turned = [...text].reverse().join("");
  const rotated = text.replace(/[a-z]/gi, (letter) => {
    const base = letter <= "Z" ? 65 : 97;
    return String.fromCharCode(((letter.charCodeAt(0) - base + 13) % 26) + base);
  });
  const tokens = text.match(/[A-Za-z0-9+/=_-]{8,}/g) ?? [];
  const bytes = tokens.flatMap((token) => [
    Buffer.from(token, "base64").toString("utf8"),
    ...(/^(?:[0-9a-f]{2})+$/i.test(token) ? [Buffer.from(token, "hex").toString("utf8")] : []),
  ]);
  return [turned, rotated, ...bytes];
}
