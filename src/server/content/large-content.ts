/** The content of an outcome with a large value, as the content worker makes it. */
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import type { Outcome } from "../../sandbox/contract.ts";
import { type OutputOptions, outcomeContent } from "./content.ts";

export interface LargeOutcome extends Pick<Outcome, "logs" | "display" | "receipt"> {
  json: string;
  options: OutputOptions;
}

export function contentOf({ json, logs, display, receipt, options }: LargeOutcome): CallToolResult {
  return outcomeContent({ ok: true, value: JSON.parse(json), logs, display, receipt }, options);
}
