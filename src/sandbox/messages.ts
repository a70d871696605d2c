/** The messages between an execution's owner and its worker. Values cross as text, never as live objects. */
import type { BindingCall, BindingValue, FailureReason, Limits, LogEntry, Mounts, Namespace } from "./contract.ts";

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
  /** Transpiled; the body of an async function. */
  code: string;
  namespaces: Namespace[];
  mounts: Mounts;
  limits: Limits;
  /** When the time is over: it began to run before the worker was ready. Milliseconds since 1970. */
  deadline: number;
  /** One Int32; anything but 0 stops the code. */
  stop: SharedArrayBuffer;
}

export interface ErrorShape {
  name: string;
  message: string;
  code?: string | undefined;
  hint?: string | undefined;
}

export type SettleMessage =
  | { type: "settle"; call: number; ok: true; value: BindingValue }
  | { type: "settle"; call: number; ok: false; error: ErrorShape };

/** The time stands still, or goes on: then it is over at this moment. Milliseconds since 1970. */
export interface DeadlineMessage {
  type: "deadline";
  deadline: number;
}

export type ToWorker =
  | PrepareMessage
  | RunMessage
  | SettleMessage
  | DeadlineMessage
  | { type: "stop" }
  | { type: "renew" };

/** A line of the log, or the beginning of one: what comes next on its level belongs to it. */
export interface LogPart extends LogEntry {
  open?: boolean;
}

export type FromWorker =
  | { type: "logs"; entries: LogPart[] }
  | { type: "display"; json: string }
  /** `line` is that of the code, where it is known. */
  | ({ type: "call"; call: number; args: string; line: number | undefined } & Omit<BindingCall, "args">)
  /** `registry` is the first path below ./registry that was asked for. */
  | { type: "done"; result: WorkerResult; reusable: boolean; registry: string | undefined };

export type WorkerResult =
  /** `notes` is JSON of what looks wrong about the value. */
  | { ok: true; json: string | undefined; notes?: string | undefined }
  | {
      ok: false;
      reason: FailureReason;
      error: ErrorShape & { stack: string };
      floating?: boolean;
      /** Tools that were asked for and are not there. */
      missed?: string[];
      /** Properties that were read from promises of calls. */
      unawaited?: { tool: string; key: string }[];
    };

/** Values of the stop flag. */
export const stopReason = { none: 0, cancelled: 1, timeout: 2 } as const;
