/** The messages between an execution's owner and its worker. Values cross as text, never as live objects. */
import type {
  BindingCall,
  BindingValue,
  CheckMode,
  FailureReason,
  KnownFunction,
  Limits,
  LogEntry,
  Mounts,
  Namespace,
  OutcomeError,
  Suggestion,
} from "./contract.ts";

/** The first message to a worker: what its executions run in. Later ones are told to begin with `renew`. */
export interface PrepareMessage {
  type: "prepare";
  engine: WebAssembly.Module;
  /** The guest's script. */
  guest: string;
  memoryBytes: number;
  /** Whether there may be executions after the first one. */
  again: boolean;
}

export interface RunMessage {
  type: "run";
  /** TypeScript as it was written. */
  source: string;
  check: CheckMode;
  /** The names of the tools. The worker asks for their schemas when it needs them. */
  namespaces: Namespace[];
  mounts: Mounts;
  limits: Limits;
  /** When the time is over: it began to run before the worker was ready. Milliseconds since 1970. */
  deadline: number;
  /** Two Int32: why the code must stop (`stopReason`), and how far the worker is (`phase`). */
  state: SharedArrayBuffer;
}

export interface ErrorShape {
  name: string;
  message: string;
  code?: string | undefined;
  hint?: string | undefined;
}

/** The answer of a call. A value is a property of the message itself: strings of a flat object cross without being copied. */
export type SettleMessage = { type: "settle"; call: number } & (BindingValue | { error: ErrorShape });

/** The time stands still, or goes on: then it is over at this moment. Milliseconds since 1970. */
export interface DeadlineMessage {
  type: "deadline";
  deadline: number;
}

/** What the check and the advice want to know about the tools. */
export interface Questions {
  tools: { namespace: string; name: string }[];
  searches: { words: string; limit: number }[];
}

/** The answers, in the order of the questions. */
export interface Answers {
  tools: ToolDetails[];
  searches: Suggestion[][];
}

export type ToolDetails = Pick<KnownFunction, "inputSchema" | "signature">;

export type ToWorker =
  | PrepareMessage
  | RunMessage
  | SettleMessage
  | DeadlineMessage
  | { type: "answers"; answers: Answers }
  | { type: "stop" }
  | { type: "renew" };

/** A line of the log, or the beginning of one: what comes next on its level belongs to it. */
export interface LogPart extends LogEntry {
  open?: boolean;
}

export interface CallMessage extends Omit<BindingCall, "args"> {
  type: "call";
  call: number;
  /** JSON. */
  args: string;
  /** The line of the code, where it is known. */
  line: number | undefined;
}

export type FromWorker =
  | { type: "logs"; entries: LogPart[] }
  | { type: "display"; json: string }
  | CallMessage
  | { type: "questions"; questions: Questions }
  | EndedMessage
  | ExplainedMessage;

/**
 * The code has ended. When `explains`, an `explained` message follows, which may be given up waiting for. A success has its
 * value as `json`, where there is one, and is flat like an answer.
 */
export type EndedMessage = {
  type: "ended";
  reusable: boolean;
  /** The first path below ./registry that was asked for. */
  registry?: string;
  explains: boolean;
} & (SuccessShape | { failure: Failure });

export interface SuccessShape {
  json?: string;
  /** Of a value that is a long text: its length, which cannot be known from `json` without parsing it. */
  textChars?: number;
}

/** A failure in words that help, or warnings about a value that looks wrong. */
export interface ExplainedMessage {
  type: "explained";
  error?: OutcomeError;
  warnings?: LogEntry[];
}

/** Characters of JSON that take some milliseconds to parse. What has more is parsed only where it is needed. */
export const largeChars = 262_144;

export type WorkerResult = ({ ok: true } & SuccessShape) | Failure;

export interface Failure {
  ok: false;
  reason: FailureReason;
  error: OutcomeError;
}

/** Values of the first number of the state. */
export const stopReason = { none: 0, cancelled: 1, timeout: 2 } as const;

/** Values of the second one. */
export const phase = { starting: 0, reading: 1, running: 2 } as const;
