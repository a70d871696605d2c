/** A digest of a server's entry, by which two processes find out whether their entries are equal without revealing secrets. */
import { createHash } from "node:crypto";
import type { ServerConfig } from "../../config/load.ts";

export function entryMark(server: ServerConfig): string {
  // The order of the keys must not change the digest.
  const { policy: _, ...entry } = server;
  const sorted = Object.entries(entry)
    .filter(([, value]) => value !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1));
  return createHash("sha256").update(JSON.stringify(sorted)).digest("hex");
}
