/** Finds images, audio and files in values and texts. They are shown or written to files; their base64 never appears in a text. */

import { grouped } from "./counted.ts";
import { isObject, type JsonObject } from "./json-object.ts";

/** Levels of a value that are searched for media. Deeper levels would overflow the stack. */
const maxMediaDepth = 500;

/** Shorter base64 stays, since a note in its place would not be shorter. */
const minMediaChars = 200;

export type Block = JsonObject;

/** The binary data of a content block. */
export interface Binary {
  type: "image" | "audio" | "resource";
  mimeType: string;
  /** Base64. */
  data: string;
}

/** Returns the binary data of a block, or undefined for text and links. */
export function binaryOf(block: unknown): Binary | undefined {
  if (!isObject(block)) return undefined;
  const { type, data, mimeType, resource } = block;
  if (typeof data === "string" && (type === "image" || type === "audio"))
    return { type, data, mimeType: mimeOf(mimeType) };
  if (!isObject(resource) || typeof resource["blob"] !== "string") return undefined;
  return { type: "resource", data: resource["blob"], mimeType: mimeOf(resource["mimeType"]) };
}

export function bytesOf({ data }: Binary): number {
  return Buffer.byteLength(data, "base64");
}

/** Returns the MIME type, or a general one if it is invalid, because an invalid type could be any text. */
function mimeOf(mimeType: unknown): string {
  const isType = typeof mimeType === "string" && /^[\w.+-]+\/[\w.+-]+(?:; ?[ \w.="-]*)?$/.test(mimeType);
  return isType ? mimeType : "application/octet-stream";
}

/** Returns whether a value is a content block of MCP that agents can show. */
export function isBlock(value: unknown): value is Block {
  if (!isObject(value)) return false;
  const { type, data, mimeType, text, resource, uri } = value;
  switch (type) {
    case "text":
      return typeof text === "string";
    case "image":
    case "audio":
      return typeof data === "string" && typeof mimeType === "string" && /^[A-Za-z0-9+/]*={0,2}$/.test(data);
    case "resource":
      return isObject(resource) && typeof resource["uri"] === "string" && ("text" in resource || "blob" in resource);
    case "resource_link":
      return typeof uri === "string" && typeof value["name"] === "string";
    default:
      return false;
  }
}

/**
 * Returns the blocks of a value that consists only of blocks: one block, an array of them, or a whole tool result. Returns
 * undefined for other values.
 */
export function blocksIn(value: unknown): Block[] | undefined {
  if (isBlock(value)) return [value];
  if (Array.isArray(value)) return value.length > 0 && value.every(isBlock) ? value : undefined;
  if (!isObject(value) || !Array.isArray(value["content"])) return undefined;
  const { content, isError, _meta, ...others } = value;
  const isPlain = isError !== true && Object.values(others).every((each) => each === undefined);
  return isPlain ? blocksIn(content) : undefined;
}

export interface WithoutMedia {
  /** The value, with a short text in place of each base64. */
  value: unknown;
  /** The blocks that contained base64, in their order. */
  media: Block[];
}

/** Removes images, audio and files from a value, at any depth. `words` returns the text in place of the data. */
export function withoutMedia(value: unknown, words: Words = sizeText): WithoutMedia {
  const media: Block[] = [];
  const take = (block: Block, binary: Binary): Block => {
    media.push(block);
    return withData(block, words(binary, media.length - 1));
  };
  const inner = (each: unknown, depth: number): unknown => {
    if (typeof each === "string") return withoutBase64(each);
    if (each === null || typeof each !== "object" || depth > maxMediaDepth) return each;
    if (Array.isArray(each)) return replaced(each, (item) => inner(item, depth + 1));
    const binary = isBlock(each) ? binaryOf(each) : undefined;
    if (binary) return take(each as Block, binary);
    if (isContents(each as Block)) {
      const block = { type: "resource", resource: each };
      return take(block, binaryOf(block)!)["resource"];
    }
    return replaced(each, (child) => inner(child, depth + 1));
  };
  return { value: inner(value, 0), media };
}

/** Returns a copy of an array or object with replaced elements, or the same object if no element changes. */
function replaced(object: object, replace: (value: unknown) => unknown): object {
  if (Array.isArray(object)) return replacedItems(object, replace);
  let copy: Block | undefined;
  for (const [key, value] of Object.entries(object)) {
    const other = replace(value);
    if (other === value) continue;
    copy ??= { ...object };
    Object.defineProperty(copy, key, { value: other, enumerable: true, writable: true, configurable: true });
  }
  return copy ?? object;
}

function replacedItems(items: readonly unknown[], replace: (value: unknown) => unknown): readonly unknown[] {
  let copy: unknown[] | undefined;
  for (const [index, item] of items.entries()) {
    const other = replace(item);
    if (other === item) continue;
    copy ??= [...items];
    copy[index] = other;
  }
  return copy ?? items;
}

/** Returns the text that replaces a binary. `place` is its index among all binaries of the value, from 0. */
export type Words = (binary: Binary, place: number) => string;

/**
 * Returns the blocks of a displayed value: one block, several, or the blocks of a raw result. Any other value becomes a text block.
 */
export function displayedBlocks(displayed: unknown): Block[] {
  if (Array.isArray(displayed)) return displayed.flatMap(displayedBlocks);
  if (isObject(displayed) && Array.isArray(displayed["content"])) return displayed["content"].flatMap(displayedBlocks);
  if (isBlock(displayed)) {
    const { text } = displayed;
    return [typeof text === "string" ? { ...displayed, text: withoutBase64(text) } : displayed];
  }
  const { value, media } = withoutMedia(displayed);
  const text = typeof value === "string" ? value : withoutBase64(JSON.stringify(value));
  return [{ type: "text", text }, ...media];
}

/**
 * Returns a program's value in the form in which it is shown. If it consists only of blocks, its text is the text of these blocks, as for
 * `display`.
 */
export function shownValue(value: unknown, words: Words = sizeText): WithoutMedia {
  const blocks = blocksIn(value);
  const media = blocks?.filter((block) => binaryOf(block) !== undefined) ?? [];
  if (!blocks || media.length === 0) return withoutMedia(value, words);
  let place = 0;
  const texts = blocks.map((block) => {
    const binary = binaryOf(block);
    if (binary) return words(binary, place++);
    return typeof block["text"] === "string" ? block["text"] : JSON.stringify(block);
  });
  return { value: texts.join("\n"), media };
}

/** Returns whether a value is the binary contents of a resource, as `resources/read` returns them. */
function isContents({ uri, blob }: Block): boolean {
  return typeof uri === "string" && typeof blob === "string";
}

/** Returns the block with a text in place of its data. */
export function withData(block: Block, text: string): Block {
  const { resource } = block;
  return isObject(resource) ? { ...block, resource: { ...resource, blob: text } } : { ...block, data: text };
}

/** Returns a text such as `[image/png, 18,209 bytes]`. */
export function sizeText(binary: Binary): string {
  return `[${binary.mimeType}, ${grouped(bytesOf(binary))} bytes]`;
}

/** Base64 of either alphabet, on one line or several. A line may end with an escape of JSON or JavaScript. */
const letters = "[A-Za-z0-9+/_-]";
const lineEnd = String.raw`(?:\\+[rn]|\s){1,2}`;
const run = `(?:${letters}{${minMediaChars},}|${letters}{40,}(?:${lineEnd}${letters}{40,}){2,}(?:${lineEnd}${letters}+)?)={0,2}`;

/** How the base64 of common file types begins. */
const beginnings: [string, string][] = [
  ["iVBORw0KGg", "image/png"],
  ["/9j/", "image/jpeg"],
  ["R0lGODlh", "image/gif"],
  ["R0lGODdh", "image/gif"],
  ["UklGR", "application/octet-stream"],
  ["JVBERi0", "application/pdf"],
  ["T2dnUw", "audio/ogg"],
  ["SUQz", "audio/mpeg"],
  ["UEsDB", "application/zip"],
];

/** Base64 after a key that blocks use for it, in a data URL, or with the beginning of a common file type. */
const base64 = new RegExp(
  [
    String.raw`(\b(?:data|blob|base64)\\*["']?\s{0,4}:\s{0,4}\\*["'${"`"}])(${run})`,
    String.raw`(\bdata:[\w.+-]{1,80}/[\w.+-]{1,80}(?:;[\w.=-]{1,80})*;base64,)(${run})`,
    `(?<!${letters})()((?=${beginnings.map(([each]) => each).join("|")})${run})`,
  ].join("|"),
  "g",
);

/**
 * Returns whether a value after such a key is likely base64: a word for a media type is near it, or it mixes letters and digits.
 */
function isLikely(data: string, around: string): boolean {
  const isMixed = [/[a-z]/, /[A-Z]/, /[0-9+/_-]/].every((each) => each.test(data.slice(0, 400)));
  return isMixed || /mime_?type|\b(?:image|audio|blob)\b/i.test(around);
}

/**
 * Replaces base64 in a text by its size: in blocks that were turned into text, in data URLs, and for common file types. Other long
 * words stay. `isCut` means that the text was cut at its end, so the size of base64 there is not known.
 */
export function withoutBase64(text: string, isCut = false): string {
  if (text.length < minMediaChars) return text;
  return text.replace(base64, (whole: string, ...groups: (string | number | undefined)[]) => {
    const [name, named, url, ofUrl, , plain] = groups as (string | undefined)[];
    const at = groups[6] as number;
    const end = at + whole.length;
    const data = (named ?? ofUrl ?? plain ?? "").replace(/\\+[nr]|\s/g, "");
    const around = () => text.slice(Math.max(0, at - 200), at) + text.slice(end, end + 200);
    if (name !== undefined && !isLikely(data, around())) return whole;
    const type = beginnings.find(([beginning]) => data.startsWith(beginning))?.[1] ?? "base64";
    const size = isCut && end === text.length ? "" : `, ${grouped(Buffer.byteLength(data, "base64"))} bytes`;
    return `${name ?? url ?? ""}[${type}${size}]`;
  });
}
