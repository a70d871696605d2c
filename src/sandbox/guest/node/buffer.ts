/** The library's `Buffer`, with the encoding base64url added. The library can decode it as base64, but not encode it. */
import { Buffer } from "buffer/";

type Loose = (...args: unknown[]) => unknown;

const { byteLength, from, isEncoding } = Buffer as unknown as Record<"byteLength" | "from" | "isEncoding", Loose>;
const { toString: textOf, write } = Buffer.prototype as unknown as Record<"toString" | "write", Loose>;

const isBase64Url = (encoding: unknown) => typeof encoding === "string" && encoding.toLowerCase() === "base64url";
const known = (encoding: unknown) => (isBase64Url(encoding) ? "base64" : encoding);

Object.assign(Buffer, {
  from: (value: unknown, encoding?: unknown, length?: unknown) => from(value, known(encoding), length),
  byteLength: (value: unknown, encoding?: unknown) => byteLength(value, known(encoding)),
  isEncoding: (encoding: unknown) => isBase64Url(encoding) || isEncoding(encoding),
});
const methods = {
  toString(this: unknown, encoding?: unknown, ...range: unknown[]): unknown {
    const text = textOf.call(this, known(encoding), ...range);
    return isBase64Url(encoding) ? inUrlLetters(String(text)) : text;
  },
  write(this: unknown, text: unknown, ...args: unknown[]): unknown {
    return write.call(this, text, ...args.map(known));
  },
};
// Not enumerable, like the methods of a class.
for (const [name, value] of Object.entries(methods)) {
  Object.defineProperty(Buffer.prototype, name, { value, writable: true, configurable: true });
}

function inUrlLetters(base64: string): string {
  return base64.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

export { Buffer } from "buffer/";
