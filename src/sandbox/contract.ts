/** The contract of the sandbox: the outcome of an execution, its receipt, and the bindings of a program. */
import type { Clock } from "../base/time-limit.ts";

export type FailureReason = "threw" | "check" | "timeout" | "cpu" | "memory" | "stack" | "cancelled" | "crashed";

export type LogLevel = "debug" | "log" | "info" | "warn" | "error";

export interface LogEntry {
  level: LogLevel;
  text: string;
}

/** An error of a program. It contains nothing of the process around the sandbox. Lines and columns count from 1. */
export interface OutcomeError {
  name: string;
  message: string;
  code?: string | undefined;
  hint?: string | undefined;
  /** Only frames of the executed file. */
  stack: string;
  line?: number | undefined;
  column?: number | undefined;
  /** The text of that line. */
  source?: string | undefined;
}

export interface ToolUse {
  calls: number;
  failures: number;
  /** Sum over all calls, without the time in which a person was asked; concurrent calls count individually. */
  durationMs: number;
  /** Characters of the results, which stayed out of the model's context. */
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
  /** Given for a dry run: the number of calls that were not made. */
  notMade?: number;
  /** Sorted by tool id. */
  tools: Record<string, ToolUse>;
  /** Characters of tool results that the program received. An image counts by its cost in a context. */
  charsIn: number;
  /** Characters of the output: the value or the failure, the logs, and displayed texts. */
  charsOut: number;
  /** The program's first access to the registry, if any: `tools.search`, or a path below ./registry. */
  registry?: string;
}

/** A call that a dry run has not made. */
export interface PlannedCall {
  server: string;
  tool: string;
  /** Undefined if the arguments of all calls together are too long. */
  arguments?: Record<string, unknown> | undefined;
  /** Characters of the arguments as JSON. */
  argumentChars: number;
  /** The line of the code. */
  line?: number;
  /** Why a person would be asked for an approval. */
  approval?: string;
}

/** What a dry run would have called. */
export interface DryRunReport {
  /** In the order in which the program made them. */
  calls: PlannedCall[];
  /** Number of further calls. */
  more: number;
}

interface Common {
  /** In order, including those before a failure. */
  logs: LogEntry[];
  /** Content blocks for the agent, in the order they were displayed. */
  display: unknown[];
  receipt: Receipt;
  /** Given if it was a dry run. */
  dryRun?: DryRunReport;
}

/** `ok` tells success from failure. */
export type Outcome =
  | ({
      ok: true;
      value: unknown;
      /** The value as JSON if it is large. `value` is then parsed when it is first read. */
      json?: string;
    } & Common)
  | ({ ok: false; reason: FailureReason; error: OutcomeError } & Common);

export interface Limits {
  /** Wall-clock time. */
  timeoutMs: number;
  /** CPU time of the program. Waiting does not count. */
  cpuMs: number;
  /** Memory of the engine. */
  memoryBytes: number;
  /** Stack for nested calls, at most 256 KB. */
  stackBytes: number;
  /** Maximum number of tool calls. */
  calls: number;
  /** Maximum number of concurrent tool calls. Others wait. */
  callsInFlight: number;
  /** Maximum bytes of the arguments of one call as JSON. */
  argumentBytes: number;
  /** Maximum bytes of the result of one call. */
  resultBytes: number;
  /** Maximum bytes of the value as JSON, and of everything displayed. */
  valueBytes: number;
  /** Maximum bytes of the logs. Longer logs keep beginning and end. */
  logBytes: number;
}

/** The absolute paths of the folders that programs see as `./workspace` (read and write) and `./registry` (read only). */
export interface Mounts {
  workspace: string;
  registry: string;
  /**
   * The part of each path that may contain links. Below it, none is followed. Without it, the folder itself may be reached through
   * links.
   */
  bases?: { workspace: string; registry: string };
  /** Given for a dry run: the workspace is copied into this folder before it is changed, and the copy is changed. It need not exist. */
  scratch?: string;
}

/** A group of functions: a global of the program if `jsName` is free, and always `servers[name]`. */
export interface Namespace {
  name: string;
  /** Undefined if the name would hide a global. */
  jsName: string | undefined;
  /** The description from the config. */
  description?: string | undefined;
  /** `any` if they are not known: then every name is accepted, and the call is checked later. */
  functions: KnownFunction[] | "any";
  /**
   * Denied and held functions that the program names. They are neither shown nor suggested; a call of one reaches the host, which explains
   * why.
   */
  hidden?: Pick<KnownFunction, "name" | "jsName">[];
  /** Whether a call may add functions: then an unknown name may be right. */
  mayGrow?: boolean;
}

export interface KnownFunction {
  name: string;
  /** Undefined if another function has the name. */
  jsName: string | undefined;
  /** JSON Schema of the argument, to check calls before the program runs. */
  inputSchema?: unknown;
  /** The signature, for errors. */
  signature?: string | undefined;
}

/** A function that a wrong name may mean. */
export interface Suggestion {
  /** The name of its namespace, and its name in code. */
  server: string;
  name: string;
  /** Its signature. */
  signature: string;
}

/** What happens to a program with a call that is certainly wrong: it is refused, warned about in the logs, or run. */
export type CheckMode = "error" | "warn" | "off";

/**
 * The value of a binding: JSON that is parsed inside, content blocks as JSON, text, or a long text that the program parses as
 * JSON if possible. `exact` says that numbers have become texts, because JavaScript cannot hold them.
 */
export type BindingValue = ({ json: string } | { blocks: string } | { text: string } | { jsonOrText: string }) & {
  exact?: true;
};

export type CallGroup = "tools" | "resources" | "prompts" | "skills";

export interface BindingCall {
  /** Empty for the global `tools`: search, describe, list. */
  namespace: string;
  /** `tools` for the namespace's own functions, else `resources`, `prompts` or `skills`. */
  group: CallGroup;
  name: string;
  args: Record<string, unknown>;
  /** The arguments as JSON, if they were written as JSON already. */
  argsJson?: string;
  /** Whether the program wants the whole result instead of the value. */
  raw: boolean;
  /** The program asks for a page of a list, and for where the next one is. */
  isPage?: boolean;
}

/** The place of a call in its execution. */
export interface CallPosition {
  /** The id of the execution. */
  execution: string;
  /** Calls of an execution count from 1, in the order in which it made them. */
  call: number;
  /** The line of the code. */
  line: number | undefined;
}

/** A call as it was written. */
export interface CallRequest extends Omit<BindingCall, "args" | "argsJson"> {
  /** The line of the code, if known. */
  line?: number | undefined;
  /** JSON, if a program made the call. */
  args?: string;
}

/** The surroundings of a call. */
export interface BindingContext {
  /** Aborted when the execution ends. */
  signal: AbortSignal;
  /** The time limit of the execution. Paused while a person is asked. */
  clock?: Clock | undefined;
  /** Pauses the whole program, for a wait that is not for a person. */
  pause?: Clock | undefined;
  made?: CallPosition | undefined;
}

/**
 * The functions that a program may call. A rejection becomes an exception inside. Only its message, `code` and `hint` are passed
 * on.
 */
export interface Bindings {
  namespaces: Namespace[];
  /** Functions that fit the words, best first. Called after a failure. */
  suggest?(words: string, limit: number): Suggestion[];
  /** Whether a call of the function is refused for wrong arguments. Without it, every function refuses them. */
  refuses?(namespace: string, name: string): Promise<boolean>;
  call(call: BindingCall, context: BindingContext): Promise<BindingValue>;
}
