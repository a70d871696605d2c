/** The library's `Buffer`, with the encoding base64url added. The library can decode it as base64, but not encode it. */
import type { ByteKind } from "../kinds.ts";
import { buffer } from "../library.ts";
import { define } from "../named.ts";
import { bytesOfLong, textOfLong } from "../web/long-texts.ts";

const { Buffer } = buffer;
type Buffer = InstanceType<typeof Buffer>;

type Loose = (...args: unknown[]) => unknown;

const { byteLength, from, isEncoding } = Buffer as unknown as Record<"byteLength" | "from" | "isEncoding", Loose>;
const { toString: textOf, write } = Buffer.prototype as unknown as Record<"toString" | "write", Loose>;

const isBase64Url = (encoding: unknown) => typeof encoding === "string" && encoding.toLowerCase() === "base64url";
const kinds: Record<string, ByteKind> = {
  __proto__: null as never,
  utf8: "utf8",
  "utf-8": "utf8",
  base64: "base64",
  hex: "hex",
};
const kindOf = (encoding: unknown) =>
  kinds[encoding === undefined ? "utf8" : typeof encoding === "string" ? encoding : ""];

const known = (encoding: unknown) => (isBase64Url(encoding) ? "base64" : encoding);

Object.assign(Buffer, {
  from: (value: unknown, encoding?: unknown, length?: unknown) => {
    const kind = typeof value === "string" ? kindOf(encoding) : undefined;
    const bytes = kind && bytesOfLong(kind, value);
    return bytes ? from(bytes.buffer) : from(value, known(encoding), length);
  },
  byteLength: (value: unknown, encoding?: unknown) => byteLength(value, known(encoding)),
  isEncoding: (encoding: unknown) => isBase64Url(encoding) || isEncoding(encoding),
});
define(Buffer.prototype, {
  toString(this: unknown, encoding?: unknown, ...range: unknown[]): unknown {
    const kind = range.length === 0 && this instanceof Uint8Array ? kindOf(known(encoding)) : undefined;
    const text = (kind && textOfLong(kind, this as Uint8Array)) ?? textOf.call(this, known(encoding), ...range);
    return isBase64Url(encoding) ? inUrlLetters(String(text)) : text;
  },
  write(this: unknown, text: unknown, ...args: unknown[]): unknown {
    return write.call(this, text, ...args.map(known));
  },
});

function inUrlLetters(base64: string): string {
  return base64.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** Returns the bytes of a view or a buffer without copying them. Returns undefined for any other value. */
export function bytesOf(value: unknown): Buffer | undefined {
  if (ArrayBuffer.isView(value)) return Buffer.from(value.buffer as ArrayBuffer, value.byteOffset, value.byteLength);
  return value instanceof ArrayBuffer || value instanceof SharedArrayBuffer
    ? Buffer.from(value as ArrayBuffer)
    : undefined;
}

export { Buffer };
