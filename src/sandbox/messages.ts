/** The messages between the main thread and a worker. Values cross as text, never as objects. */
import type {
  BindingValue,
  CallRequest,
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
import type { ReadyMemory } from "./engine/remembered.ts";
import type { FileUse } from "./host/files.ts";
import type { ProgramImage } from "./program-image.ts";

/** The first message to a worker: the settings of its executions. `renew` prepares the next execution. */
export interface PrepareMessage {
  type: "prepare";
  /** Undefined if this worker is to compile it: this thread may be too busy. */
  engine: WebAssembly.Module | undefined;
  /** Undefined if this worker is to make it. */
  ready: ReadyMemory | undefined;
  /** The guest's script as UTF-8, in a shared buffer: most workers do not need it, and a text would be copied for each. */
  guest: Uint8Array;
  memoryBytes: number;
  /** Whether further executions may follow. */
  again: boolean;
}

export interface RunMessage {
  type: "run";
  /** The TypeScript source. */
  source: string;
  check: CheckMode;
  /** The names of the tools. The worker asks for schemas when it needs them. */
  namespaces: Namespace[];
  mounts: Mounts;
  limits: Limits;
  /** The end of the time limit, which began before the worker was ready. Milliseconds since 1970. */
  deadline: number;
  /** Whether the program is saved before each of its calls leaves. */
  isKept: boolean;
  /** Whether the uses of the workspace are told. */
  tellsFiles: boolean;
  /**
   * Four Int32 values: why the code must stop (`stopReason`), the worker's `phase`, the milliseconds that the code has run, and whether it
   * has a place to compute (`computing`).
   */
  state: SharedArrayBuffer;
}

/** Continues a program that was parked. Sent instead of `run`, with the limits and folders of that message. */
export interface ResumeMessage extends Omit<RunMessage, "type"> {
  type: "resume";
  /** A whole image. */
  saved: ProgramImage;
}

export interface ErrorShape {
  name: string;
  message: string;
  code?: string | undefined;
  hint?: string | undefined;
  /** JSON that the server sent with its error. */
  data?: string | undefined;
}

/**
 * The answer of a call. The value is a property of the message itself, because Bun moves strings of flat objects without copying.
 */
export type SettleMessage = { type: "settle"; call: number } & (BindingValue | { error: ErrorShape });

/** Short answers that came in one moment, as JSON: one text crosses in 2 µs less than an object. */
export type AnswersJson = string;

/** The new end of the time limit, after a pause. Milliseconds since 1970. */
export interface DeadlineMessage {
  type: "deadline";
  deadline: number;
}

/** A question of the check and the advice: for the details of a tool, whether it refuses wrong arguments, or for tools that fit some words. */
export type LookupQuestion = { namespace: string; name: string; refuses?: true } | { words: string; limit: number };

export type LookupAnswer = Pick<KnownFunction, "inputSchema" | "signature"> | Suggestion[] | boolean;

export type ToWorker =
  | PrepareMessage
  | RunMessage
  | ResumeMessage
  | SettleMessage
  | AnswersJson
  | DeadlineMessage
  | { type: "answers"; answers: LookupAnswer[] }
  | { type: "stop" }
  | ParkMessage
  /** Answers `wantsPlace`. */
  | { type: "place" }
  /** The parked program could not be saved: it goes on in this worker. */
  | { type: "stay" }
  /** Saves the program soon, and from now on before each of its calls leaves. */
  | { type: "keep" }
  /** Answers `wantsCopy`. A whole copy is needed if the last one was not stored. */
  | { type: "copy"; isWhole: boolean }
  | { type: "renew" };

/** A log line, or the start of one that the next text of its level continues. */
export interface LogPart extends LogEntry {
  open?: boolean;
}

export interface CallMessage extends CallRequest {
  type: "call";
  call: number;
  args: string;
  line: number | undefined;
}

/** Calls with short arguments that were made in one moment, as JSON: one text crosses in 2 µs less than an object. */
export type CallsJson = string;

/** Asks for the program, unless one of its timers fires within `nearMs`: then it would have to be resumed at once. */
export interface ParkMessage {
  type: "park";
  nearMs: number;
  isWhole: boolean;
}

/**
 * The answer to `park`: the program, or nothing if it cannot be parked now. Between `park` and `resumed`, the worker must be sent nothing
 * of the program but `stay`. `wakeAt` is the time of its next timer, in milliseconds since 1970.
 */
export interface ParkedMessage {
  type: "parked";
  saved: ProgramImage | undefined;
  wakeAt: number | undefined;
  /** The calls that the program waits for. */
  open: number[];
  /** Whether the worker may run another program. */
  reusable: boolean;
}

/**
 * A copy of a program that is kept, which goes on. The copy waits for the calls in `open`, and `calls` among them may be made once
 * it is saved. Without `saved`, no copy could be made.
 */
export interface CheckpointMessage extends Omit<ParkedMessage, "type" | "reusable"> {
  type: "checkpoint";
  calls: CallMessage[];
}

export type FromWorker =
  /** The worker has done what `prepare` asks for. `engine` and `ready` are there if this worker has made them. */
  | { type: "prepared"; engine?: WebAssembly.Module | undefined; ready?: ReadyMemory | undefined }
  | ParkedMessage
  | CheckpointMessage
  /** A program that is kept waits, and has calls that may be made once a copy is saved. `bytes` is the size of its memory. */
  | { type: "wantsCopy"; bytes: number }
  | { type: "resumed" }
  /** The program has something to compute, and has lost its place while it waited. */
  | { type: "wantsPlace" }
  /** The program waits for a timer that fires late, and for nothing else. */
  | { type: "sleeps"; until: number }
  | { type: "awake" }
  | { type: "logs"; entries: LogPart[] }
  | { type: "display"; json: string }
  | ({ type: "file" } & FileUse)
  | CallMessage
  | CallsJson
  | { type: "questions"; questions: LookupQuestion[] }
  | EndedMessage
  | ExplainedMessage;

/**
 * The code has ended. With `explains`, an `explained` message follows; the receiver may stop waiting for it. A success has its
 * value as `json`, if there is one, and is flat like an answer.
 */
export type EndedMessage = {
  type: "ended";
  reusable: boolean;
  /** The first path below ./registry that was read. */
  registry?: string;
  explains: boolean;
} & (SuccessShape | { failure: WorkerFailure });

export interface SuccessShape {
  json?: string;
  /** The length of a value that is a long text: parsing `json` for it would take time. */
  textChars?: number;
}

/** An explained failure, or warnings about a value that is certainly wrong. */
export interface ExplainedMessage {
  type: "explained";
  error?: OutcomeError;
  warnings?: LogEntry[];
}

export type WorkerResult = ({ ok: true } & SuccessShape) | WorkerFailure;

export interface WorkerFailure {
  ok: false;
  reason: FailureReason;
  error: OutcomeError;
}

/** A new `state`. */
export const newState = (): SharedArrayBuffer => new SharedArrayBuffer(4 * Int32Array.BYTES_PER_ELEMENT);

/** Values of the first number of `state`. */
export const stopReason = { none: 0, cancelled: 1, timeout: 2 } as const;

/** Values of the second number of `state`. A worker waits for its modules, for answers, and for its engine. */
export const phase = { waiting: 0, reading: 1, running: 2 } as const;

/** Where `computing` stands in `state`. */
export const stateOfPlace = 3;

/**
 * Values of the fourth number of `state`. The worker says that the code waits for calls and timers only. The main thread may then take its
 * place from it. A program that lacks a place asks for one before it goes on.
 */
export const computing = { runs: 0, waits: 1, lacksPlace: 2 } as const;
