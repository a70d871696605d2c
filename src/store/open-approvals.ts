/** Limits what waits for decisions at once. No person reads more. */
import { ClaudikinsError } from "../base/errors.ts";

/** The same for all configs together. */
const maxOpenOfAll = { rows: 2_000, bytes: 256_000_000 };

/** Open approvals of one config, and the bytes of their arguments. */
const maxOpenOfConfig = { rows: 500, bytes: 64_000_000 };

/** Open rows, and the bytes of their arguments. */
export interface OpenSum {
  rows: number;
  bytes: number;
}

/** Throws POLICY_DENIED if an open row with `bytes` of arguments is too much. `tool` names its tool. */
export function requireRoom(open: { ofConfig: OpenSum; ofAll: OpenSum }, bytes: number, tool: string): void {
  const full = fullness(open, bytes);
  if (full === undefined) return;
  throw new ClaudikinsError("POLICY_DENIED", `${tool} was not called: ${full}`, {
    hint: "Decide about these first: claudikins approvals --all",
  });
}

/** What prevents another open row, such as `500 calls already wait for approval`. */
function fullness({ ofConfig, ofAll }: Parameters<typeof requireRoom>[0], bytes: number): string | undefined {
  const places = [
    [ofConfig, maxOpenOfConfig],
    [ofAll, maxOpenOfAll],
  ] as const;
  for (const [open, limit] of places) {
    if (open.rows >= limit.rows) return `${limit.rows.toLocaleString("en")} calls already wait for approval`;
    if (open.bytes + bytes > limit.bytes) {
      return `the calls that already wait for approval have ${Math.round(open.bytes / 1_000_000)} MB of arguments, and ${limit.bytes / 1_000_000} MB is the limit`;
    }
  }
  return undefined;
}
