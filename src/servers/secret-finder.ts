/** Finds secrets in texts, including escaped and encoded ones and large parts of one, because lines may be cut or split. */

import { minEncodedSecretChars, secretAnchorChars } from "./limits.ts";

interface Anchor {
  form: string;
  /** The position of the anchor in the form. */
  at: number;
  shown: string;
}

/**
 * Returns a function that replaces each form of a secret. Half a form counts as well, if it has at least eleven characters.
 * Takes about 5 ms per megabyte, whatever the number of forms.
 */
export function secretFinder(shownAs: ReadonlyMap<string, string>): (text: string) => string {
  const anchors = new Map<string, Anchor[]>();
  /** The first two characters of all anchors. Most positions of a text are skipped by this test. */
  const begun = new Uint8Array(65_536);
  for (const [form, shown] of shownAs) {
    for (const at of anchorPlaces(form.length)) {
      const text = form.slice(at, at + secretAnchorChars);
      const same = anchors.get(text);
      if (same) same.push({ form, at, shown });
      else anchors.set(text, [{ form, at, shown }]);
      begun[pair(form.charCodeAt(at), form.charCodeAt(at + 1))] = 1;
    }
  }

  return (text) => {
    let out = "";
    let done = 0;
    for (let at = 0; at + secretAnchorChars <= text.length; at++) {
      if (begun[pair(text.charCodeAt(at), text.charCodeAt(at + 1))] === 0) continue;
      const found = longest(anchors.get(text.slice(at, at + secretAnchorChars)) ?? [], text, at, done);
      if (!found) continue;
      out += text.slice(done, found.start) + found.shown;
      done = found.end;
      at = done - 1;
    }
    return done === 0 ? text : out + text.slice(done);
  };
}

const pair = (first: number, second: number) => ((first & 0xff) << 8) | (second & 0xff);

/** Positions so close that each half of the form contains a whole anchor. */
function anchorPlaces(length: number): number[] {
  const step = Math.max(1, partLength(length) - secretAnchorChars + 1);
  const places: number[] = [];
  for (let at = 0; at <= length - secretAnchorChars; at += step) places.push(at);
  return places;
}

/** The number of characters that reveal the secret. */
function partLength(length: number): number {
  return Math.min(length, Math.max(2 * secretAnchorChars - 1, Math.ceil(length / 2)));
}

/** The longest part of a form around the anchor; whole forms are preferred. Characters before `from` are already replaced. */
function longest(anchors: readonly Anchor[], text: string, at: number, from: number) {
  let best: { start: number; end: number; shown: string; isWhole: boolean } | undefined;
  for (const { form, at: within, shown } of anchors) {
    let start = at;
    for (let place = within - 1; place >= 0 && start > from && text[start - 1] === form[place]; place--) start--;
    let end = at + secretAnchorChars;
    for (let place = within + secretAnchorChars; place < form.length && text[end] === form[place]; place++) end++;
    const length = end - start;
    if (length < partLength(form.length)) continue;
    const isWhole = length === form.length;
    const known = best ? best.end - best.start : 0;
    if (length > known || (length === known && isWhole && !best?.isWhole)) best = { start, end, shown, isWhole };
  }
  return best;
}

/** All forms of a secret, the secret itself first. */
export function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret.toWellFormed());
  const hex = bytes.toString("hex");
  const inAddress = encodeURIComponent(secret.toWellFormed());
  const everyByte = hex.replace(/../g, "%$&");
  const encoded = [
    hex,
    hex.toUpperCase(),
    everyByte,
    everyByte.toUpperCase(),
    ...base64Forms(bytes),
    codeUnits(secret),
  ];
  return [
    ...new Set([
      secret,
      JSON.stringify(secret).slice(1, -1),
      // As in a line of a log.
      secret.replace(/\p{Cc}+/gu, " "),
      inAddress,
      inAddress.replace(/%[\dA-F]{2}/g, (code) => code.toLowerCase()),
      inAddress.replaceAll("%20", "+"),
      ...encoded.filter((form) => form.length >= minEncodedSecretChars),
    ]),
  ];
}

/** Base64 and base64url, with anything before and after the secret: preceding bytes shift all characters. */
function base64Forms(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((shift) => {
    const text = Buffer.concat([Buffer.alloc(shift), bytes])
      .toString("base64")
      .replaceAll("=", "");
    // The first and last character may contain bits of neighbouring bytes.
    const end = (shift + bytes.length) % 3 === 0 ? text.length : text.length - 1;
    const own = text.slice([0, 2, 3][shift], end);
    return [own, own.replaceAll("+", "-").replaceAll("/", "_")];
  });
}

/** As `\u0061`, the escape that some serializers use for every character. */
function codeUnits(secret: string): string {
  return secret.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
