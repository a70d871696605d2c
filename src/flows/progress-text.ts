/** What an execution is at, in a line for whoever watches: `github.list_issues: 3/10 fetching page 3`. */
import type { Progress } from "@modelcontextprotocol/sdk/types.js";
import { oneLine } from "../clients/notices.ts";

/** Characters of a server's own words. */
const maxWords = 200;

export function progressText(tool: string, { progress, total, message }: Progress): string {
  const share = total !== undefined && total > 0 ? `${shown(progress)}/${shown(total)}` : shown(progress);
  return `${tool}: ${[share, oneLine(message ?? "", maxWords)].filter(Boolean).join(" ")}`;
}

function shown(value: number): string {
  return String(Math.round(value * 100) / 100);
}
