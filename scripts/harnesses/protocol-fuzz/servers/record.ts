/** Records the gated calls that a server receives, for the oracle. */
import { appendFileSync } from "node:fs";

/** Names of the tools that need a person's permission. There are many, because a person who refused one is not asked about it again. */
export const gatedTools = Array.from({ length: 100 }, (_, index) => `wipe_${index}`);

/** Characters of arguments that are recorded. */
const maxChars = 10_000;

export function record(
  file: string,
  server: string,
  tool: string,
  args: { id?: unknown } = {},
  id = String(args.id),
): void {
  const isSmall = JSON.stringify(args).length <= maxChars;
  appendFileSync(file, `${JSON.stringify({ server, tool, id, ...(isSmall ? { args } : {}) })}\n`);
}
