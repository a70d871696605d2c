/** The content of an outcome with a large value, as the content worker makes it. */
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import type { Outcome } from "../../sandbox/contract.ts";
import { type OutputOptions, outcomeContent } from "./content.ts";

/** A flat object, of which the strings cross to the worker without being copied. */
export interface LargeOutcome {
  /** Of the value. */
  json: string;
  /** JSON of `Rest`. */
  rest: string;
}

export interface Rest extends Pick<Outcome, "logs" | "display" | "receipt"> {
  options: OutputOptions;
}

export function contentOf({ json, rest }: LargeOutcome): CallToolResult {
  const { options, ...common } = JSON.parse(rest) as Rest;
  return outcomeContent({ ok: true, value: JSON.parse(json), ...common }, options);
}
