/**
 * Computes what the engine cannot: formatting by locale, hashes and random bytes. It runs outside of the sandbox.
 *
 * A worker starts 8 ms earlier if it does not import `node:crypto`.
 */
import { megabyte } from "../../base/units.ts";
import { digestAlgorithms } from "../guest/kinds.ts";
import { base64OfLatin1, latin1OfBase64 } from "./bytes.ts";
import { intlFunctions } from "./intl.ts";

/** Characters of the JSON of the arguments. */
const maxComputeChars = 10_000_000;

/** Random bytes of one request. */
const maxHostRandomBytes = megabyte;

const functions: Record<string, (args: never) => unknown> = {
  __proto__: null as never,
  ...intlFunctions,
  digest,
  base64OfLatin1,
  latin1OfBase64,
  random: randomBase64,
  randomInt: ({ min, max }: { min: number; max: number }) =>
    process.getBuiltinModule("node:crypto").randomInt(min, max),
  randomUUID: () => crypto.randomUUID(),
};

/**
 * Calls a function by name. Arguments and answer are JSON. Throws an Error; the program sees only its name and message. The
 * arguments come from untrusted code, so each function checks its own.
 */
export function compute(name: string, argsJson: string): string {
  const body = functions[name];
  if (!body) throw new Error(`there is no function ${name}`);
  if (argsJson.length > maxComputeChars) {
    throw new RangeError(
      `The input is too large: ${argsJson.length} characters; the limit is ${maxComputeChars}. Process it in parts.`,
    );
  }
  return JSON.stringify(body(JSON.parse(argsJson) as never)) ?? "null";
}

interface DigestRequest {
  algorithm: string;
  /** The key of an HMAC, in base64. Without it, the result is a plain hash. */
  key?: string;
  /** Texts, which are hashed as UTF-8, and bytes. */
  parts: ({ text: string } | { base64: string })[];
}

function digest({ algorithm, key, parts }: DigestRequest): string {
  if (!digestAlgorithms.includes(algorithm)) {
    throw new Error(`There is no digest "${algorithm}". Available: ${digestAlgorithms.join(", ")}`);
  }
  const named = algorithm as Bun.SupportedCryptoAlgorithms;
  const hash = new Bun.CryptoHasher(named, key === undefined ? undefined : Buffer.from(key, "base64"));
  for (const part of parts) {
    hash.update("text" in part ? String(part.text) : Buffer.from(String(part.base64), "base64"));
  }
  return hash.digest("base64");
}

function randomBase64({ bytes }: { bytes: number }): string {
  if (!Number.isInteger(bytes) || bytes < 0 || bytes > maxHostRandomBytes) {
    throw new RangeError(`Random bytes are limited to ${maxHostRandomBytes} at once, got ${bytes}`);
  }
  return Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString("base64");
}
