/** Pictures, sounds and files in values and texts: they are shown or written to files, and their base64 never stands in a text. */
import { isObject, type JsonObject } from "./json-object.ts";
import { grouped } from "./outcome-text.ts";

export type Block = JsonObject;

/** What a content block holds that is no text. */
export interface Binary {
  type: "image" | "audio" | "resource";
  mimeType: string;
  /** In base64. */
  data: string;
}

/** Undefined where the block is text, or a link. */
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

/** An invalid type is not shown: its text may be anything. */
function mimeOf(mimeType: unknown): string {
  const isType = typeof mimeType === "string" && /^[\w.+-]+\/[\w.+-]+(?:; ?[ \w.="-]*)?$/.test(mimeType);
  return isType ? mimeType : "application/octet-stream";
}

/** A content block as hosts show it. */
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

/** The blocks of a value that is nothing else: one, a list of them, or a whole tool result. Undefined for other values. */
export function blocksIn(value: unknown): Block[] | undefined {
  if (isBlock(value)) return [value];
  if (Array.isArray(value)) return value.length > 0 && value.every(isBlock) ? value : undefined;
  if (!isObject(value) || !Array.isArray(value["content"])) return undefined;
  const { content, isError, _meta, ...others } = value;
  const isPlain = isError !== true && Object.values(others).every((each) => each === undefined);
  return isPlain ? blocksIn(content) : undefined;
}

export interface WithoutMedia {
  /** The value with a few words in the place of base64. */
  value: unknown;
  /** The blocks that had it, in their order. */
  media: Block[];
}

/** Deeper levels are left as they are: they would exhaust the stack. */
const maxDepth = 500;

/** Takes pictures, sounds and files out of a value, however deep they lie. `words` say what stands in the place of the data. */
export function withoutMedia(value: unknown, words: Words = sizeText): WithoutMedia {
  const media: Block[] = [];
  const take = (block: Block, binary: Binary): Block => {
    media.push(block);
    return withData(block, words(binary, media.length - 1));
  };
  const inner = (each: unknown, depth: number): unknown => {
    if (typeof each === "string") return withoutBase64(each);
    if (each === null || typeof each !== "object" || depth > maxDepth) return each;
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

/** A list or an object with other elements; the same one where none is another. */
function replaced(object: object, replace: (value: unknown) => unknown): object {
  let copy: Block | unknown[] | undefined;
  for (const [key, value] of Object.entries(object)) {
    const other = replace(value);
    if (other === value) continue;
    copy ??= Array.isArray(object) ? [...object] : { ...object };
    Object.defineProperty(copy, key, { value: other, enumerable: true, writable: true, configurable: true });
  }
  return copy ?? object;
}

/** Returns the text that stands in the place of a binary. `place` is its index among all binaries of the value, from 0. */
export type Words = (binary: Binary, place: number) => string;

/** What was displayed as blocks: one, several, or a raw result that has some. Anything else is shown as text. */
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

/** A returned value as it is shown. Of one that is nothing but blocks, the text is theirs, as `display` shows it. */
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

/** What reading a resource gives: bytes by themselves. */
function isContents({ uri, blob }: Block): boolean {
  return typeof uri === "string" && typeof blob === "string";
}

/** The block with something else in the place of its data. */
export function withData(block: Block, text: string): Block {
  const { resource } = block;
  return isObject(resource) ? { ...block, resource: { ...resource, blob: text } } : { ...block, data: text };
}

/** `[image/png, 18,209 bytes]`. */
export function sizeText(binary: Binary): string {
  return `[${binary.mimeType}, ${grouped(bytesOf(binary))} bytes]`;
}

/** Shorter base64 costs less than what would be said of it. */
const leastChars = 200;

/** Base64 of either alphabet, whole or in lines, whose ends are written as in JSON and JavaScript. */
const letters = "[A-Za-z0-9+/_-]";
const lineEnd = String.raw`(?:\\+[rn]|\s){1,2}`;
const run = `(?:${letters}{${leastChars},}|${letters}{40,}(?:${lineEnd}${letters}{40,}){2,}(?:${lineEnd}${letters}+)?)={0,2}`;

/** How the base64 of well-known files begins. */
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

/** After a name that blocks have for it, in a data URL, or beginning as well-known files do. */
const base64 = new RegExp(
  [
    String.raw`(\b(?:data|blob|base64)\\*["']?\s{0,4}:\s{0,4}\\*["'${"`"}])(${run})`,
    String.raw`(\bdata:[\w.+-]{1,80}/[\w.+-]{1,80}(?:;[\w.=-]{1,80})*;base64,)(${run})`,
    `(?<!${letters})()((?=${beginnings.map(([each]) => each).join("|")})${run})`,
  ].join("|"),
  "g",
);

/** A name alone says little: beside it there is a word for the type, or the text mixes letters and digits as base64 does. */
function isLikely(data: string, around: string): boolean {
  const isMixed = [/[a-z]/, /[A-Z]/, /[0-9+/_-]/].every((each) => each.test(data.slice(0, 400)));
  return isMixed || /mime_?type|\b(?:image|audio|blob)\b/i.test(around);
}

/**
 * A text with the size of base64 in its place: of blocks that were made a text, of data URLs, and of well-known files. Other long
 * words stay. `isCut` where the text goes on beyond its end, so that the size of what stands there is not known.
 */
export function withoutBase64(text: string, isCut = false): string {
  if (text.length < leastChars) return text;
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
