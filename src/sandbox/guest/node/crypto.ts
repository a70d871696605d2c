/** `node:crypto`: hashes, HMACs and random values. */
import { compute } from "../host.ts";
import { digestAlgorithms } from "../kinds.ts";
import { digestOf, type Part, partOf, randomBytesOf, randomUUID, crypto as webcrypto } from "../web/crypto.ts";
import { Buffer, bytesOf } from "./buffer.ts";

/** Normalises a name: "SHA-256", "RSA-SHA256" and "sha256" are the same. */
function algorithmOf(name: unknown): string {
  const plain = String(name).toLowerCase().replace(/^rsa-/, "").replace(/^sha-/, "sha");
  if (digestAlgorithms.includes(plain)) return plain;
  throw new Error(`There is no digest "${name}". Available: ${digestAlgorithms.join(", ")}`);
}

class Hash {
  readonly #algorithm: string;
  readonly #key: Buffer | undefined;
  readonly #parts: Part[];
  #done = false;

  constructor(algorithm: string, key?: Buffer, parts: Part[] = []) {
    this.#algorithm = algorithm;
    this.#key = key;
    this.#parts = parts;
  }
  update(data: unknown, encoding?: string): this {
    this.#checkOpen();
    this.#parts.push(partOf(data, encoding));
    return this;
  }
  digest(encoding?: string): Buffer | string {
    this.#checkOpen();
    this.#done = true;
    const digest = Buffer.from(digestOf(this.#algorithm, this.#parts, this.#key).buffer);
    return encoding === undefined || encoding === "buffer" ? digest : digest.toString(encoding as "hex");
  }
  copy(): Hash {
    this.#checkOpen();
    return new Hash(this.#algorithm, this.#key, [...this.#parts]);
  }
  #checkOpen(): void {
    if (this.#done) throw new Error("Digest already called");
  }
}

function randomInt(low: number, high?: number | Callback, callback?: Callback): number | undefined {
  const [min, max] = typeof high === "number" ? [low, high] : [0, low];
  return later(compute<number>("randomInt", { min, max }), typeof high === "function" ? high : callback);
}

type Callback = (error: null, value: unknown) => void;

function later<T>(value: T, callback: Callback | undefined): T | undefined {
  if (!callback) return value;
  queueMicrotask(() => callback(null, value));
  return undefined;
}

export const crypto = {
  createHash: (algorithm: unknown) => new Hash(algorithmOf(algorithm)),
  createHmac: (algorithm: unknown, key: unknown) => {
    const part = partOf(key);
    return new Hash(algorithmOf(algorithm), "text" in part ? Buffer.from(part.text) : bytesOf(key));
  },
  hash: (algorithm: unknown, data: unknown, encoding = "hex") =>
    new Hash(algorithmOf(algorithm)).update(data).digest(encoding),
  getHashes: () => [...digestAlgorithms],
  randomUUID,
  randomBytes: (size: number, callback?: Callback) => later(Buffer.from(randomBytesOf(size).buffer), callback),
  randomInt,
  timingSafeEqual: (left: unknown, right: unknown): boolean => {
    const [a, b] = [bytesOf(left), bytesOf(right)];
    if (!a || !b) throw new TypeError("timingSafeEqual takes two Buffers or typed arrays");
    if (a.length !== b.length) throw new RangeError("Input buffers must have the same byte length");
    return a.equals(b);
  },
  getRandomValues: webcrypto.getRandomValues,
  subtle: webcrypto.subtle,
  webcrypto,
};
