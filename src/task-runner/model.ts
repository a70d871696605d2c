/** A small model, a task, its outcome and its receipt. */

import { grouped } from "../base/counted.ts";
import { durationText } from "../base/duration.ts";
import {
  about,
  anything,
  byName,
  exactly,
  list,
  named,
  number,
  oneOf,
  record,
  text,
  texts,
  type ValueOf,
  yesOrNo,
} from "../base/json-shape.ts";
import type { TraceContext } from "../base/trace-context.ts";
import type { OnceOptions } from "../programs/call.ts";

/** A small model. It answers one request with text, as JSON that follows a schema if it can. */
export interface Model {
  /** The name in receipts: `cerebras/llama-3.3-70b`, or `the host's model`. */
  readonly name: string;
  /** Throws MODEL_UNAVAILABLE (after its own retries), MODEL_REFUSED, AUTH_REQUIRED, CANCELLED. */
  ask(request: ModelRequest, signal: AbortSignal): Promise<ModelAnswer>;
}

export interface ModelRequest {
  /** The system prompt, the same for all requests of a kind. */
  system: string;
  prompt: string;
  /** JSON Schema of the answer, an object. */
  schema: object;
  /**
   * Whether endpoints accept the schema with `strict`: every object requires all of its properties and allows no others. A
   * tool's own schema is asked for without `required`, so that missing values are left out.
   */
  isStrict?: boolean;
  schemaName: string;
  maxTokens: number;
}

export interface ModelAnswer {
  text: string;
  tokens: { prompt: number; completion: number };
  /** Whether the tokens are estimated, because the endpoint did not report them. */
  isEstimate: boolean;
}

/** The system prompt with the schema in words, for models that cannot be forced to follow a schema. */
export function inWords({ system, schema }: ModelRequest): string {
  return `${system}\n\nAnswer with one JSON object and nothing else. It must match this JSON Schema:\n${JSON.stringify(schema)}`;
}

/** The user's answer to a form with flat fields (MCP elicitation). */
export interface FilledForm {
  action: "accept" | "decline" | "cancel";
  content?: Record<string, unknown> | undefined;
}

export interface TaskOptions {
  task: string;
  /** Do everything except the call. */
  dryRun?: boolean | undefined;
  signal?: AbortSignal | undefined;
  /** The trace that the task belongs to. */
  trace?: TraceContext | undefined;
  /** The agent that has sent the task. Undefined for a command. */
  caller?: OnceOptions["caller"];
  /** Called with a line for each choice, and for progress that the server reports. */
  onProgress?: ((line: string) => void) | undefined;
  /** Asks the user for missing arguments; undefined if the user cannot be asked. */
  askForMissing?: ((message: string, schema: object, signal: AbortSignal) => Promise<FilledForm>) | undefined;
}

const stepShape = record({
  level: oneOf("category", "server", "tool", "arguments"),
  options: about("Number of options, or of the tool's arguments", number),
  "offered?": about("Number of options that the model was given, if search left some out", number),
  choice: text,
  skipped: about("There was nothing to choose, so the model was not asked", yesOrNo),
  tokens: about("Tokens of requests and answers, including a second try", number),
  ms: number,
  "retried?": yesOrNo,
  "asked?": about("Arguments that the user was asked for", texts),
});
export type TaskStep = ValueOf<typeof stepShape>;

const receiptShape = named(
  "Receipt",
  record({
    model: text,
    steps: list(named("Step", stepShape)),
    modelCalls: number,
    tokens: record({ prompt: number, completion: number, isEstimate: yesOrNo }),
    "callMs?": about("Time of the tool call, with all tries", number),
    totalMs: number,
  }),
);
export type TaskReceipt = ValueOf<typeof receiptShape>;

const success = { success: exactly(true), tool_used: text, arguments: byName(anything), receipt: receiptShape };

export const taskDoneShape = record({ ...success, result: anything });
type TaskDone = ValueOf<typeof taskDoneShape>;

export const plannedShape = about("With --dry-run", record({ ...success, dry_run: exactly(true) }));
export type TaskPlanned = ValueOf<typeof plannedShape>;

export const taskFailedShape = record({
  success: exactly(false),
  "tool_used?": text,
  "needs_input?": about(
    "Arguments that the task does not give: their schema, and the arguments that are known",
    record({ schema: anything, known: byName(anything), missing: texts }),
  ),
  error: record({ type: about("An error code", text), message: text, "suggestion?": text }),
  receipt: receiptShape,
});
export type TaskFailed = ValueOf<typeof taskFailedShape>;

export type TaskOutcome = TaskDone | TaskPlanned | TaskFailed;

/** The receipt in one line: `[demo.get_order · 2 calls of cerebras/gpt-oss-120b, 1,204 tokens · 812 ms]`. */
export function taskReceiptText({ tool_used, receipt }: Pick<TaskOutcome, "tool_used" | "receipt">): string {
  const { model, modelCalls, tokens, totalMs } = receipt;
  const sum = `${tokens.isEstimate ? "about " : ""}${grouped(tokens.prompt + tokens.completion)} tokens`;
  const asked = `${modelCalls} ${modelCalls === 1 ? "call" : "calls"} of ${model}`;
  const parts = [
    ...(tool_used === undefined ? [] : [tool_used]),
    modelCalls === 0 ? asked : `${asked}, ${sum}`,
    durationText(totalMs),
  ];
  return `[${parts.join(" · ")}]`;
}
