/** Hashes, HMACs and random bytes for programs in the sandbox. Bytes are passed as base64. */
import { createHash, createHmac, randomBytes } from "node:crypto";

/** The names that Node uses. */
const algorithms = ["md5", "sha1", "sha224", "sha256", "sha384", "sha512"];

const maxRandomBytes = 1_048_576;

export interface DigestRequest {
  algorithm: string;
  /** The key of an HMAC, in base64. Without it, the result is a plain hash. */
  key?: string;
  /** Texts, which are hashed as UTF-8, and bytes. */
  parts: ({ text: string } | { base64: string })[];
}

export function digest({ algorithm, key, parts }: DigestRequest): string {
  if (!algorithms.includes(algorithm)) {
    throw new Error(`There is no digest "${algorithm}". Available: ${algorithms.join(", ")}`);
  }
  const hash = key === undefined ? createHash(algorithm) : createHmac(algorithm, Buffer.from(key, "base64"));
  for (const part of parts) {
    if ("text" in part) hash.update(String(part.text), "utf8");
    else hash.update(Buffer.from(String(part.base64), "base64"));
  }
  return hash.digest("base64");
}

export function randomBase64({ bytes }: { bytes: number }): string {
  if (!Number.isInteger(bytes) || bytes < 0 || bytes > maxRandomBytes) {
    throw new RangeError(`Random bytes are limited to ${maxRandomBytes} at once, got ${bytes}`);
  }
  return randomBytes(bytes).toString("base64");
}
