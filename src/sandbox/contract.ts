/** What the sandbox promises: the outcome of an execution, its receipt, and the bindings that code is given. */
import type { Clock } from "../time-limit.ts";

export type FailureReason = "threw" | "check" | "timeout" | "cpu" | "memory" | "stack" | "cancelled" | "crashed";

export type LogLevel = "debug" | "log" | "info" | "warn" | "error";

export interface LogEntry {
  level: LogLevel;
  text: string;
}

/** An error as it is shown: nothing of the process around the sandbox is in it. Lines and columns count from 1. */
export interface OutcomeError {
  name: string;
  message: string;
  code?: string;
  hint?: string;
  /** Frames of the executed file only. */
  stack: string;
  line?: number;
  column?: number;
  /** The text of that line. */
  source?: string;
}

export interface ToolUse {
  calls: number;
  failures: number;
  /** Summed over the calls; calls in flight together count each. */
  durationMs: number;
  /** Characters of the results, which stayed out of the context. */
  resultChars: number;
  /** Message of the first failure, if every call failed and the code succeeded without showing the message. */
  hiddenFailure?: string;
}

export interface Receipt {
  /** The id of the execution. */
  id: string;
  durationMs: number;
  calls: number;
  failures: number;
  /** By tool id, sorted. */
  tools: Record<string, ToolUse>;
  /** Characters of tool results that went into the code. */
  charsIn: number;
  /** Characters that came out of it: the value or the failure, the logs, the texts that were displayed. */
  charsOut: number;
  /** What it asked of the registry first, if anything: `tools.search`, or a path below ./registry. */
  registry?: string;
}

interface Common {
  /** In order, also those written before a failure. */
  logs: LogEntry[];
  /** Content blocks for the host, in the order they were displayed. */
  display: unknown[];
  receipt: Receipt;
}

/** Success is the tag, never the truthiness of a field. */
export type Outcome =
  | ({
      ok: true;
      value: unknown;
      /** The value as JSON text, where that is large: `value` is then parsed when it is read. */
      json?: string;
    } & Common)
  | ({ ok: false; reason: FailureReason; error: OutcomeError } & Common);

export interface Limits {
  /** Wall-clock time. */
  timeoutMs: number;
  /** Time in which the code itself runs; what it waits for does not count. */
  cpuMs: number;
  /** The whole memory of the engine. */
  memoryBytes: number;
  /** What nested calls may take, 256 KB at most. */
  stackBytes: number;
  /** Tool calls in all. */
  calls: number;
  /** Tool calls that run together; more of them wait for their turn. */
  callsInFlight: number;
  /** JSON of the arguments of one call. */
  argumentBytes: number;
  /** Text of the result of one call. */
  resultBytes: number;
  /** JSON of the value, and of all that is displayed. */
  valueBytes: number;
  /** Log lines; of more, the beginning and the end are kept. */
  logBytes: number;
}

/** The folders that code sees as `./workspace` (read and write) and `./registry` (read only). Absolute paths. */
export interface Mounts {
  workspace: string;
  registry: string;
  /** The part of each path that may lead through links; from there on none is followed. Without it, the folder itself. */
  bases?: { workspace: string; registry: string };
}

/** A group of functions: a global object inside, when `jsName` is free there, and always in `servers[name]`. */
export interface Namespace {
  name: string;
  /** Undefined where the name would hide something. */
  jsName: string | undefined;
  /** What it is for, in the words of whoever configured it. */
  description?: string | undefined;
  /** `any` where they are not known: then every name is taken for a function, and calling it says more. */
  functions: KnownFunction[] | "any";
  /**
   * Functions that are neither shown nor suggested, of those that the code names: a call of one is made, and answered with why
   * not.
   */
  hidden?: Pick<KnownFunction, "name" | "jsName">[];
  /** There may be more of these: whoever calls a function by a name that is not known is answered by the host. */
  mayHide?: boolean;
}

export interface KnownFunction {
  name: string;
  /** Undefined where another function has it. */
  jsName: string | undefined;
  /** JSON Schema of the one argument, for checking calls before they are made. */
  inputSchema?: unknown;
  /** How it is called, for whoever called it wrongly. */
  signature?: string | undefined;
}

/** A function that may have been meant. */
export interface Suggestion {
  /** The name of its namespace, and its own in code. */
  server: string;
  name: string;
  /** How it is called. */
  signature: string;
}

/** What happens to code in which a call is certainly wrong: it is not run, it is told of in the logs, or nothing. */
export type CheckMode = "error" | "warn" | "off";

/**
 * What a binding returns: JSON text that is parsed inside, a list of content blocks as JSON, text that stays text, or long
 * text of which only the parsing inside shows whether it is JSON.
 */
export type BindingValue = { json: string } | { blocks: string } | { text: string } | { jsonOrText: string };

export type CallGroup = "tools" | "resources" | "prompts";

export interface BindingCall {
  /** Empty for the functions of the global `tools`: search, describe, list. */
  namespace: string;
  /** The namespace's own functions, or those of `namespace.resources` and `namespace.prompts`. */
  group: CallGroup;
  name: string;
  args: Record<string, unknown>;
  /** The caller wants the whole result and not the value. */
  raw: boolean;
}

/** A call as it was made. */
export interface WatchedCall extends Omit<BindingCall, "args" | "raw"> {
  /** Of the code. */
  line: number | undefined;
  /** JSON. */
  args: string;
}

/** What became of it: the text of its result, or why it has none. */
export type WatchedEnd =
  | { outcome: "ok"; text: string }
  | { outcome: "failed"; code: string | undefined; message: string }
  /** Broken off with the execution. */
  | { outcome: "cancelled" };

/** Told of each call that is made, and then of its end. It is waited for: whatever takes time is to be done later. */
export type CallWatcher = (call: WatchedCall) => (end: WatchedEnd) => void;

/**
 * The functions that code may call. A rejection becomes an exception inside; its `code` and `hint` go with it when they
 * are strings, everything else of it stays outside.
 */
export interface Bindings {
  namespaces: Namespace[];
  /** Functions that may do what the words say, best first. Asked when something has failed. */
  suggest?(words: string, limit: number): Suggestion[];
  /** The clock is that of the execution: it is held while somebody is asked something. */
  call(call: BindingCall, signal: AbortSignal, clock?: Clock): Promise<BindingValue>;
}
