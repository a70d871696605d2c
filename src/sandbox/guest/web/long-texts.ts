/**
 * Converts long texts to bytes and back on the host. A megabyte takes some milliseconds there, and a second in the guest's libraries.
 * Returns undefined for texts that the libraries must convert: short and unusual ones.
 */
import { compute, host } from "../host.ts";
import type { ByteKind } from "../kinds.ts";

/** Converting a shorter text in the guest is faster than asking the host. */
const minChars = 200;

/** Texts cross as JSON in parts of this size, in which both forms of base64 end evenly. */
const partChars = 600_000;

/** A text ends at a zero when it crosses, and loses a byte order mark. */
export function bytesOfLong(kind: ByteKind, text: unknown): Uint8Array<ArrayBuffer> | undefined {
  if (typeof text !== "string" || text.length < minChars) return undefined;
  if (text.includes("\0") || text.charCodeAt(0) === 0xfeff || !text.isWellFormed()) return undefined;
  const buffer = host.bytes(kind, text);
  // A text that does not fit in the memory crosses as an empty one.
  return buffer && buffer.byteLength > 0 ? new Uint8Array(buffer) : undefined;
}

export function textOfLong(kind: ByteKind, bytes: Uint8Array): string | undefined {
  if (bytes.length < minChars) return undefined;
  const isWhole = bytes.byteLength === bytes.buffer.byteLength;
  return host.text(kind, isWhole ? bytes.buffer : new Uint8Array(bytes).buffer);
}

/** Converts a text with a function of the host. */
export function convertLong(name: "base64OfLatin1" | "latin1OfBase64", text: unknown): string | undefined {
  if (typeof text !== "string" || text.length < minChars) return undefined;
  let converted = "";
  for (let at = 0; at < text.length; at += partChars) {
    const part = compute<string | null>(name, { text: text.slice(at, at + partChars) });
    // Padding ends base64, so the parts before the last have none.
    if (part === null || (part.length % 3 !== 0 && name === "latin1OfBase64" && at + partChars < text.length))
      return undefined;
    converted += part;
  }
  return converted;
}
