/** Converts the contents of files. Bytes are passed as text with one character per byte (latin1), which is the fastest way. */
import { argumentError, received } from "./fs-host.ts";

const { fromCharCode } = String;

/** Returns data for the host, with its encoding. */
export function outgoing(data: unknown, encoding: string | undefined): { data: string; encoding: string } {
  if (typeof data === "string") return { data, encoding: encoding ?? "utf8" };
  if (data instanceof ArrayBuffer) return { data: oneCharEach(new Uint8Array(data)), encoding: "latin1" };
  if (ArrayBuffer.isView(data)) {
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    return { data: oneCharEach(bytes), encoding: "latin1" };
  }
  throw argumentError(
    `The "data" argument must be of type string or an instance of Buffer, TypedArray, or DataView. ${received(data)}`,
    "Write JSON.stringify(value, null, 2) for data, or String(value) for text.",
  );
}

function oneCharEach(bytes: Uint8Array): string {
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; at += 8_192) parts.push(fromCharCode(...bytes.subarray(at, at + 8_192)));
  return parts.join("");
}

/** Returns bytes as a Buffer, or as bytes whose `toString` decodes UTF-8 if there is no Buffer. */
export function incoming(text: string): Uint8Array {
  const bytes = new Bytes(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  const { Buffer } = globalThis as { Buffer?: typeof globalThis.Buffer };
  return Buffer ? Buffer.from(bytes.buffer as ArrayBuffer) : bytes;
}

class Bytes extends Uint8Array {
  /** Decodes UTF-8. */
  override toString(): string {
    return decodeURIComponent(escape(oneCharEach(this)));
  }
}

/** Returns the encoding in the options, which may be the encoding itself. Undefined means bytes. */
export function encodingOf(options: unknown): string | undefined {
  const encoding =
    typeof options === "string" ? options : (options as { encoding?: unknown } | null | undefined)?.encoding;
  return typeof encoding === "string" && encoding !== "buffer" ? encoding : undefined;
}
