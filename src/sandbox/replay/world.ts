/** The clock and the random values of a program that is replayed: both are the same each time. */
import { Buffer } from "node:buffer";
import { randomFrom } from "../guest/random.ts";
import { maxHostRandomBytes } from "../host/compute.ts";
import type { Seed } from "./contract.ts";

/** Readings of the clock after which it shows a millisecond more, so that a loop that waits for a time ends. */
const readingsPerMs = 1_000;

/** Random values that the host computes. */
type HostRandom = { bytes?: number; min?: number; max?: number };

export class ReplayedWorld {
  readonly #startedAt: number;
  readonly #random: () => number;
  #now: number;
  #readings = 0;

  constructor(startsAt: number, [a, b, c, d]: Seed) {
    this.#startedAt = startsAt;
    this.#now = startsAt;
    // Math.random of the program has the seed itself.
    this.#random = randomFrom([d, c, b, a ^ 1]);
  }

  /** Milliseconds since 1970. */
  get now(): number {
    return this.#now;
  }

  /** Milliseconds since the start. */
  get elapsed(): number {
    return this.#read() - this.#startedAt;
  }

  /** The clock never goes back. */
  moveTo(now: number): void {
    this.#now = Math.max(this.#now, now);
  }

  /** Runs the program. The engine takes its time from the `Date` of this thread. */
  within(work: () => void): void {
    const now = Date.now;
    Date.now = () => this.#read();
    try {
      work();
    } finally {
      Date.now = now;
    }
  }

  #read(): number {
    this.#readings += 1;
    if (this.#readings % readingsPerMs === 0) this.#now += 1;
    return this.#now;
  }

  /** The JSON of a random value. Undefined for everything else that the host computes. */
  compute(name: string, argsJson: string): string | undefined {
    if (name !== "random" && name !== "randomInt" && name !== "randomUUID") return undefined;
    const { bytes = 16, min = 0, max = 0 } = JSON.parse(argsJson) as HostRandom;
    if (name === "randomInt") return max > min ? `${min + Math.floor(this.#random() * (max - min))}` : undefined;
    if (!Number.isInteger(bytes) || bytes < 0 || bytes > maxHostRandomBytes) return undefined;
    const random = Buffer.alloc(bytes);
    for (let at = 0; at < bytes; at++) random[at] = Math.floor(this.#random() * 256);
    return JSON.stringify(name === "random" ? random.toString("base64") : uuidOf(random));
  }
}

/** A random UUID (RFC 9562, version 4). */
function uuidOf(bytes: Buffer): string {
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
