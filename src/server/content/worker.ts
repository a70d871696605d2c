/** The worker that makes the content of outcomes with a large value. */
import type { CallToolResult } from "@modelcontextprotocol/server";
import { answerJobs } from "../../off-thread.ts";
import type { Outcome } from "../../sandbox/contract.ts";
import { type OutputOptions, outcomeContent } from "./content.ts";

declare const self: Worker;

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

answerJobs(self, ({ json, rest }: LargeOutcome): CallToolResult => {
  const { options, ...common } = JSON.parse(rest) as Rest;
  return outcomeContent({ ok: true, value: JSON.parse(json), ...common }, options);
});
