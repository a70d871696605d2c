/** What the navigator works with and gives: a small model that is asked, a task, its outcome and its receipt. */

/** A small model that chooses and fills in: it answers one request with text, with JSON by a schema where it can. */
export interface Model {
  /** For receipts: `cerebras/llama-3.3-70b`, or `the host's model`. */
  readonly name: string;
  /** Throws MODEL_UNAVAILABLE (after its own retries), MODEL_REFUSED, AUTH_REQUIRED, CANCELLED. */
  ask(request: ModelRequest, signal: AbortSignal): Promise<ModelAnswer>;
}

export interface ModelRequest {
  /** The same for all requests of a kind. */
  system: string;
  prompt: string;
  /**
   * JSON Schema of the answer, an object. For arguments it is the tool's own, of any dialect, in which nothing is required:
   * what the task does not say is left out. So it is none for modes that want every property to be required.
   */
  schema: object;
  schemaName: string;
  maxTokens: number;
}

export interface ModelAnswer {
  text: string;
  tokens: { prompt: number; completion: number };
  /** Whether the tokens are our own estimate: the endpoint did not say. */
  isEstimate: boolean;
}

/** A form of flat fields, as a person of an MCP host is asked by it. */
export interface FilledForm {
  action: "accept" | "decline" | "cancel";
  content?: Record<string, unknown> | undefined;
}

export interface TaskOptions {
  task: string;
  /** Everything but the call. */
  dryRun?: boolean | undefined;
  signal?: AbortSignal | undefined;
  /** Told in a line what was chosen, and how far the server says it is. */
  onProgress?: ((line: string) => void) | undefined;
  /** Asks a person for missing arguments; undefined where nobody can be asked. */
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
  /** What the task does not say: the schema of the missing arguments alone, and what is known of the others. */
  needs_input?: { schema: object; known: Record<string, unknown>; missing: string[] };
  /** The type is a code of `errors.ts`. */
  error: { type: string; message: string; suggestion?: string };
  receipt: TaskReceipt;
}

export interface TaskStep {
  level: "category" | "server" | "tool" | "arguments";
  /** How many there were to choose from; of arguments, how many the tool takes. */
  options: number;
  /** Of how many the model was told, where search has left others out. */
  offered?: number;
  choice: string;
  /** There was nothing to choose: no model was asked. */
  skipped: boolean;
  /** Of the request and the answer, those of a second try as well. */
  tokens: number;
  ms: number;
  retried?: boolean;
  /** Arguments that a person was asked for. */
  asked?: string[];
}

export interface TaskReceipt {
  model: string;
  steps: TaskStep[];
  modelCalls: number;
  tokens: { prompt: number; completion: number; isEstimate: boolean };
  /** Of the tool, with all of its tries. */
  callMs?: number;
  totalMs: number;
}
