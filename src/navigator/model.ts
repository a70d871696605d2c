/** A small model, a task, its outcome and its receipt. */
import { grouped } from "../outcome-text.ts";

/** A small model. It answers one request with text, as JSON that follows a schema if it can. */
export interface Model {
  /** For receipts: `cerebras/llama-3.3-70b`, or `the host's model`. */
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

/** The system prompt with the schema in words, for models that are not held to a schema. */
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
  /** Called with a line for each choice, and for progress that the server reports. */
  onProgress?: ((line: string) => void) | undefined;
  /** Asks the user for missing arguments; undefined if nobody can be asked. */
  askForMissing?: ((message: string, schema: object, signal: AbortSignal) => Promise<FilledForm>) | undefined;
}

export type TaskOutcome = TaskDone | TaskPlanned | TaskFailed;

export interface TaskDone {
  success: true;
  /** `server.tool` */
  tool_used: string;
  result: unknown;
  arguments: Record<string, unknown>;
  receipt: TaskReceipt;
}

export interface TaskPlanned {
  success: true;
  dry_run: true;
  tool_used: string;
  arguments: Record<string, unknown>;
  receipt: TaskReceipt;
}

export interface TaskFailed {
  success: false;
  tool_used?: string;
  /** Arguments that the task does not give: their schema, and the arguments that are known. */
  needs_input?: { schema: object; known: Record<string, unknown>; missing: string[] };
  /** `type` is an error code of `errors.ts`. */
  error: { type: string; message: string; suggestion?: string };
  receipt: TaskReceipt;
}

export interface TaskStep {
  level: "category" | "server" | "tool" | "arguments";
  /** The number of options, or of the tool's arguments. */
  options: number;
  /** The number of options that the model was given, if search left some out. */
  offered?: number;
  choice: string;
  /** There was nothing to choose, so the model was not asked. */
  skipped: boolean;
  /** The tokens of requests and answers, including a second try. */
  tokens: number;
  ms: number;
  retried?: boolean;
  /** Arguments that the user was asked for. */
  asked?: string[];
}

export interface TaskReceipt {
  model: string;
  steps: TaskStep[];
  modelCalls: number;
  tokens: { prompt: number; completion: number; isEstimate: boolean };
  /** The time of the tool call, with all tries. */
  callMs?: number;
  totalMs: number;
}

/** The receipt in one line: `[demo.get_order · 2 calls of cerebras/gpt-oss-120b, 1,204 tokens · 812 ms]`. */
export function taskReceiptText({ tool_used, receipt }: Pick<TaskOutcome, "tool_used" | "receipt">): string {
  const { model, modelCalls, tokens, totalMs } = receipt;
  const sum = `${tokens.isEstimate ? "about " : ""}${grouped(tokens.prompt + tokens.completion)} tokens`;
  const asked = `${modelCalls} ${modelCalls === 1 ? "call" : "calls"} of ${model}`;
  const parts = [
    ...(tool_used === undefined ? [] : [tool_used]),
    modelCalls === 0 ? asked : `${asked}, ${sum}`,
    `${grouped(totalMs)} ms`,
  ];
  return `[${parts.join(" · ")}]`;
}
