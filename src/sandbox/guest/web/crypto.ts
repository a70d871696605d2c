/** The Web Crypto API: random values, and the digests of `subtle`. */
import DOMException from "core-js-pure/stable/dom-exception";
import { bytesOf, digestOf, partOf, randomBytesOf } from "../bytes.ts";
import { named } from "../named.ts";

const digests: Record<string, string> = {
  __proto__: null as never,
  "SHA-1": "sha1",
  "SHA-256": "sha256",
  "SHA-384": "sha384",
  "SHA-512": "sha512",
};

const maxRandomBytes = 65_536;

export function randomUUID(): string {
  const bytes = randomBytesOf(16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

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
    const known = digests[name];
    if (!known) {
      const names = Object.keys(digests).join(", ");
      throw new DOMException(`There is no digest "${name}". Available: ${names}`, "NotSupportedError");
    }
    if (!bytesOf(data)) throw new TypeError("crypto.subtle.digest takes an ArrayBuffer or a typed array");
    return digestOf(known, [partOf(data)]).buffer;
  },
};
for (const name of ["encrypt", "decrypt", "sign", "verify", "deriveKey", "deriveBits", "generateKey", "importKey"]) {
  subtle[name] = refuse(name);
}

export const crypto = named({ randomUUID, getRandomValues, subtle: named(subtle) });
