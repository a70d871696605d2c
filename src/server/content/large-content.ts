/** Makes the content of an outcome with a large value, in the content worker. */
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import type { Outcome } from "../../sandbox/contract.ts";
import { type OutputOptions, outcomeContent } from "./content.ts";

/** A flat object: Bun moves its strings to the worker without copying them. */
export interface LargeOutcome {
  /** JSON of the value. */
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
