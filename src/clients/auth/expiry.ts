/** When tokens are too old to be sent. */
import type { Tokens } from "./credentials.ts";

/** So long before their end they are renewed: a request takes time, and clocks differ. */
const marginMs = 60_000;

/** Those that cannot be renewed are sent until their end. */
export function isExpired({ expiresAt, obtainedAt, refresh }: Tokens, now = Date.now()): boolean {
  if (expiresAt === undefined) return false;
  const margin = refresh === undefined ? 0 : Math.min(marginMs, (expiresAt - obtainedAt) / 10);
  return now >= expiresAt - margin;
}
