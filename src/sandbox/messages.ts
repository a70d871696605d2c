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
import type { Seed } from "./replay/contract.ts";

/** The first message to a worker: the settings of its executions. `renew` prepares the next execution. */
export interface PrepareMessage {
  type: "prepare";
  /** Undefined if the worker must compile it, because this thread may be too busy. */
  engine: WebAssembly.Module | undefined;
  /** Undefined if the worker must create it. */
  ready: ReadyMemory | undefined;
  /** The guest's script as UTF-8, in a shared buffer. A string would be copied to every worker, and most workers do not need it. */
  guest: Uint8Array;
  memoryBytes: number;
  /** The memory of a program grows only while this process takes less memory than this. In bytes. */
  growBelowBytes: number;
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
  /** Whether the worker reports uses of the workspace. */
  tellsFiles: boolean;
  /** Without it, the worker chooses one. */
  seed?: Seed | undefined;
  /** Given for a replay: what the clock shows when the program begins, in milliseconds since 1970. */
  replaysFrom?: number | undefined;
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
export type SettleMessage = {
  type: "settle";
  call: number;
  /** In a replay: what the clock shows then, in milliseconds since 1970. */
  at?: number;
} & (BindingValue | { error: ErrorShape });

/** Short answers that arrived together, as JSON. A string crosses between threads 2 µs faster than an object. */
export type AnswersJson = string;

/** The new end of the time limit, after a pause. Milliseconds since 1970. */
export interface DeadlineMessage {
  type: "deadline";
  deadline: number;
}

/** A question of the check and the advice: for a part of a tool, whether it refuses wrong arguments, or for tools that fit some words. */
export type LookupQuestion =
  | { namespace: string; name: string; part: "inputSchema" | "signature" | "isRefused" }
  | { words: string; limit: number };

/** The part of the tool that was asked for, or the suggestions. */
export type LookupAnswer = KnownFunction["inputSchema"] | string | Suggestion[] | boolean;

export type ToWorker = PrepareMessage | RunMessage | ResumeMessage | AnswersJson | { type: "renew" } | ToProgram;

/** About the program that the worker runs. */
export type ToProgram =
  | SettleMessage
  | DeadlineMessage
  | { type: "answers"; answers: LookupAnswer[] }
  | { type: "stop" }
  /** Fires the first timer of a program that is replayed. */
  | { type: "wake" }
  | ParkMessage
  /** Answers `wantsPlace`. */
  | { type: "place" }
  /** The parked program could not be saved, and continues in this worker. */
  | { type: "stay" }
  /** Saves the program soon, and from now on before each of its calls leaves. */
  | { type: "keep" }
  /** Answers `wantsCopy`. A whole copy is needed if the last one was not stored. */
  | { type: "copy"; isWhole: boolean };

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

/** Calls with short arguments that were made together, as JSON. A string crosses between threads 2 µs faster than an object. */
export type CallsJson = string;

/** Asks the worker to park the program, unless one of its timers fires within `nearMs`: the program would have to be resumed at once. */
export interface ParkMessage {
  type: "park";
  nearMs: number;
  isWhole: boolean;
}

/**
 * The answer to `park`: the program, or nothing if it cannot be parked now. After `park`, the only message about the program that may be sent
 * to the worker is `stay`, until the program is resumed. `wakeAt` is the time of its next timer, in milliseconds since 1970.
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
 * A copy of a kept program, which continues meanwhile. The copy waits for the calls in `open`. The calls in `calls` are new and may be made
 * once the copy is saved. Without `saved`, no copy could be made.
 */
export interface CheckpointMessage extends Omit<ParkedMessage, "type" | "reusable"> {
  type: "checkpoint";
  calls: CallMessage[];
}

export type FromWorker =
  /** The worker is prepared. `engine` and `ready` are set if this worker has created them. */
  | { type: "prepared"; engine?: WebAssembly.Module | undefined; ready?: ReadyMemory | undefined }
  | ParkedMessage
  | CheckpointMessage
  /** A kept program waits, and has calls that may be made once a copy is saved. `bytes` is the size of its memory. */
  | { type: "wantsCopy"; bytes: number }
  | { type: "resumed" }
  /** The program has something to compute, and has lost its place while it waited. */
  | { type: "wantsPlace" }
  /** The program waits for a timer that fires late, and for nothing else. */
  | { type: "sleeps"; until: number }
  | { type: "awake" }
  /** A program that is replayed waits for this number of calls. `wakeAt` is the time of its first timer. */
  | { type: "waits"; open: number; wakeAt: number | undefined }
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
  /** The memory that the program took, if it has run. */
  usedBytes?: number;
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

/** Values of the first number of `state`: why the code must stop. */
export const stopReason = { none: 0, cancelled: 1, timeout: 2 } as const;

/** Values of the second number of `state`. A worker waits for its modules, for answers, and for its engine. */
export const phase = { waiting: 0, reading: 1, running: 2 } as const;

/** The index of `computing` in `state`. */
export const stateOfPlace = 3;

/**
 * Values of the fourth number of `state`. The worker reports that the code only waits for calls and timers. The main thread may then take
 * the program's place. A program without a place asks for one before it continues.
 */
export const computing = { runs: 0, waits: 1, lacksPlace: 2 } as const;
