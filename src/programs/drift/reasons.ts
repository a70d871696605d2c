/** Reasons why a saved program would break: as text, and as a digest of what its user has accepted. */
import { sha256 } from "../../base/sha256.ts";
import type { Reason } from "./contract.ts";

/** What the user has accepted: other reasons must be accepted again. */
export function digestOfReasons(reasons: readonly Reason[]): string {
  return sha256(JSON.stringify(reasons.map(({ text, line }) => [line, text])));
}

/** `line 5: demo.list_orders: orders[*].cents is gone. Then output.total is null; it was a number (350)`. */
export function reasonText({ line, text, effect }: Reason): string {
  const what = line === undefined ? text : `line ${line}: ${text}`;
  return effect === undefined ? what : `${what}. ${effect}`;
}
