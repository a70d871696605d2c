/** Converts bytes for the way between guest and host. */

import { compute } from "./compute.ts";
import { Buffer } from "./node/buffer.ts";

/** Returns the bytes of a view or a buffer without copying them. Returns undefined for any other value. */
export function bytesOf(value: unknown): Uint8Array | undefined {
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  return value instanceof ArrayBuffer || value instanceof SharedArrayBuffer
    ? new Uint8Array(value as ArrayBuffer)
    : undefined;
}

/** Returns the text, or bytes as base64. Throws TypeError if the value is neither. */
export function partOf(value: unknown, encoding?: string): { text: string } | { base64: string } {
  if (typeof value === "string" && (encoding === undefined || /^utf-?8$/i.test(encoding))) return { text: value };
  const bytes = typeof value === "string" ? Buffer.from(value, encoding as "hex") : bytesOf(value);
  if (!bytes)
    throw new TypeError(
      `Data must be a string, a Buffer or a typed array, not ${value === null ? null : typeof value}`,
    );
  return { base64: base64Of(bytes) };
}

export function base64Of(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}

/** Returns the bytes in an ArrayBuffer of their own, with exactly their length. */
function fromBase64(base64: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(base64, "base64"));
}

export function digestOf(algorithm: string, parts: object[], key?: Uint8Array): Uint8Array<ArrayBuffer> {
  const keyed = key === undefined ? {} : { key: base64Of(key) };
  return fromBase64(compute<string>("digest", { algorithm, parts, ...keyed }));
}

export function randomBytesOf(bytes: number): Uint8Array<ArrayBuffer> {
  return fromBase64(compute<string>("random", { bytes }));
}
