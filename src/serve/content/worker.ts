/** The worker that makes the content of large outcomes, and of outcomes with a text that goes into a file. */
import type { CallToolResult } from "@modelcontextprotocol/server";
import { answerJobs } from "../../base/off-thread.ts";
import type { Outcome } from "../../sandbox/contract.ts";
import { boundedJson, type OutputOptions, outcomeContent, textResult } from "./bounded-content.ts";

declare const self: Worker;

/** A flat object: Bun moves its strings to the worker without copying them. */
export interface ContentJob {
  /** JSON of the value. Undefined if there is none. */
  json: string | undefined;
  /** JSON of `Rest`. */
  rest: string;
}

/** The outcome without its value; or the name of the file for a value that is shown alone. */
export type Rest = { options: OutputOptions } & ({ outcome: Outcome } | { id: string });

answerJobs(self, ({ json, rest: text }: ContentJob): CallToolResult => {
  const rest = JSON.parse(text) as Rest;
  const value: unknown = json === undefined ? undefined : JSON.parse(json);
  if ("id" in rest) return textResult(boundedJson(value, rest.id, rest.options));
  const { outcome, options } = rest;
  return outcomeContent(outcome.ok ? { ...outcome, value } : outcome, options);
});
