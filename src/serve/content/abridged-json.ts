/** Abridges a value that is too long to show and keeps its shape: long arrays and texts keep head, tail and count. */
import { counted, grouped } from "../../base/counted.ts";
import { jsonText } from "./json-text.ts";

/** Share of the kept elements of a too long array that are its head. */
const abridgedHeadShare = 0.7;

/** What one stage keeps: elements of an array or object, characters of a text, and levels. */
interface Share {
  elements: number;
  characters: number;
  depth: number;
}

/** From large to small: the first stage that fits is used. */
const shares: readonly Share[] = [
  { elements: 200, characters: 4_000, depth: 12 },
  { elements: 50, characters: 1_000, depth: 10 },
  { elements: 20, characters: 400, depth: 8 },
  { elements: 8, characters: 200, depth: 6 },
  { elements: 4, characters: 100, depth: 4 },
];

/** Returns JSON of at most `maxChars`, or undefined if even the smallest stage does not fit. */
export function abridgedJson(value: unknown, maxChars: number): string | undefined {
  for (const share of shares) {
    const json = jsonText(abridged(value, share, 0));
    if (json.length <= maxChars) return json;
  }
  return undefined;
}

function abridged(value: unknown, share: Share, depth: number): unknown {
  if (typeof value === "string") return abridgedText(value, share.characters);
  if (value === null || typeof value !== "object") return value;
  const inner = (each: unknown) => abridged(each, share, depth + 1);
  if (Array.isArray(value)) {
    if (depth >= share.depth && value.length > 0) return `[… ${counted(value.length, "item")}]`;
    const { head, tail } = ends(value.length, share.elements);
    if (head + tail === value.length) return value.map(inner);
    return [
      ...value.slice(0, head).map(inner),
      `… ${counted(value.length - head - tail, "more item")} of ${grouped(value.length)} …`,
      ...(tail > 0 ? value.slice(-tail).map(inner) : []),
    ];
  }
  const entries = Object.entries(value);
  if (depth >= share.depth && entries.length > 0) return `{… ${counted(entries.length, "key")}}`;
  const { head, tail } = ends(entries.length, share.elements);
  const shown: [string, unknown][] = entries.slice(0, head).map(([key, each]) => [key, inner(each)]);
  if (head + tail < entries.length) {
    shown.push(["…", `${counted(entries.length - head - tail, "more key")} of ${grouped(entries.length)}`]);
    for (const [key, each] of tail > 0 ? entries.slice(-tail) : []) shown.push([key, inner(each)]);
  }
  return Object.fromEntries(shown);
}

function abridgedText(text: string, characters: number): string {
  // The note about the rest takes some characters too.
  if (text.length <= characters + 40) return text;
  const { head, tail } = ends(text.length, characters);
  const left = text.length - head - tail;
  return `${text.slice(0, head)}… ${counted(left, "more character")} of ${grouped(text.length)} …${text.slice(-tail)}`;
}

function ends(length: number, kept: number): { head: number; tail: number } {
  // A gap of one element would be no shorter than the element.
  if (length <= kept + 1) return { head: length, tail: 0 };
  const head = Math.ceil(kept * abridgedHeadShare);
  return { head, tail: kept - head };
}
