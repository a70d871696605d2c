/** Compares secrets in a time that says nothing about them. */
import { timingSafeEqual } from "node:crypto";
import { sha256 } from "./sha256.ts";

/** Digests have the same length for all texts, as the comparison requires. */
export function isSameSecret(given: string, secret: string): boolean {
  return timingSafeEqual(Buffer.from(sha256(given)), Buffer.from(sha256(secret)));
}
