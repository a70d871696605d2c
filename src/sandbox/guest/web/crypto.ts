/** The Web Crypto API: random values, and the digests of `subtle`. The host computes them. */
import { compute } from "../host.ts";
import { named } from "../named.ts";
import { Buffer, bytesOf } from "../node/buffer.ts";
import { DOMException } from "./core-js.ts";

/** A text, or bytes as base64. */
export type Part = { text: string } | { base64: string };

/** Throws TypeError if the value is neither a text nor bytes. */
export function partOf(value: unknown, encoding?: string): Part {
  if (typeof value === "string" && (encoding === undefined || /^utf-?8$/i.test(encoding))) return { text: value };
  const bytes = typeof value === "string" ? Buffer.from(value, encoding as "hex") : bytesOf(value);
  if (!bytes)
    throw new TypeError(
      `Data must be a string, a Buffer or a typed array, not ${value === null ? null : typeof value}`,
    );
  return { base64: bytes.toString("base64") };
}

/** Returns bytes in an ArrayBuffer of their own. */
function fromBase64(base64: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(base64, "base64"));
}

export function digestOf(algorithm: string, parts: Part[], key?: Buffer): Uint8Array<ArrayBuffer> {
  return fromBase64(compute<string>("digest", { algorithm, parts, key: key?.toString("base64") }));
}

export function randomBytesOf(bytes: number): Uint8Array<ArrayBuffer> {
  return fromBase64(compute<string>("random", { bytes }));
}

const digests = ["SHA-1", "SHA-256", "SHA-384", "SHA-512"];

const maxRandomBytes = 65_536;

export const randomUUID = () => compute<string>("randomUUID", {});

function getRandomValues<T>(array: T): T {
  const isFloat = array instanceof Float32Array || array instanceof Float64Array;
  if (!ArrayBuffer.isView(array) || array instanceof DataView || isFloat) {
    throw new DOMException("getRandomValues takes an integer typed array", "TypeMismatchError");
  }
  const bytes = bytesOf(array)!;
  if (bytes.length > maxRandomBytes) {
    throw new DOMException(`At most ${maxRandomBytes} random bytes at once, not ${bytes.length}`, "QuotaExceededError");
  }
  bytes.set(randomBytesOf(bytes.length));
  return array;
}

const refuse = (name: string) => async () => {
  throw new DOMException(`crypto.subtle.${name} is not available, only digest`, "NotSupportedError");
};

const subtle: Record<string, unknown> = {
  async digest(algorithm: string | { name: string }, data: unknown): Promise<ArrayBuffer> {
    const name = String(typeof algorithm === "object" ? algorithm.name : algorithm).toUpperCase();
    if (!digests.includes(name))
      throw new DOMException(`There is no digest "${name}". Available: ${digests.join(", ")}`, "NotSupportedError");
    if (!bytesOf(data)) throw new TypeError("crypto.subtle.digest takes an ArrayBuffer or a typed array");
    return digestOf(name.replace("-", "").toLowerCase(), [partOf(data)]).buffer;
  },
};
for (const name of ["encrypt", "decrypt", "sign", "verify", "deriveKey", "deriveBits", "generateKey", "importKey"]) {
  subtle[name] = refuse(name);
}

export const crypto = named({ randomUUID, getRandomValues, subtle: named(subtle) });
