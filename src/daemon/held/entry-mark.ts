/** Says whether two processes have the same entry of a server, secrets included, without telling them. */
import { createHash } from "node:crypto";
import type { ServerConfig } from "../../config/load.ts";

export function entryMark(server: ServerConfig): string {
  // In another order it would be another text.
  const { policy: _, ...entry } = server;
  const sorted = Object.entries(entry)
    .filter(([, value]) => value !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1));
  return createHash("sha256").update(JSON.stringify(sorted)).digest("hex");
}
