/** The worker that makes the content of outcomes with a large value, or with large displayed texts. */
import type { CallToolResult } from "@modelcontextprotocol/server";
import { answerJobs } from "../../off-thread.ts";
import type { Outcome } from "../../sandbox/contract.ts";
import { type OutputOptions, outcomeContent } from "./bounded-content.ts";

declare const self: Worker;

/** A flat object: Bun moves its strings to the worker without copying them. */
export interface LargeOutcome {
  /** JSON of the value. Undefined if there is none. */
  json: string | undefined;
  /** JSON of `Rest`. */
  rest: string;
}

export interface Rest {
  /** Without its value. */
  outcome: Outcome;
  options: OutputOptions;
}

answerJobs(self, ({ json, rest }: LargeOutcome): CallToolResult => {
  const { options, outcome } = JSON.parse(rest) as Rest;
  const value: unknown = json === undefined ? undefined : JSON.parse(json);
  return outcomeContent(outcome.ok ? { ...outcome, value } : outcome, options);
});
