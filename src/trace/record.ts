/** The record of one execution: time, result, calls and sizes. Contents are kept only on request. */

/** The front doors that run code. */
export const doors = ["exec", "serve"] as const;
export type Door = (typeof doors)[number];

/** The first line of each file, which lists show. */
export interface Summary {
  version: 1;
  id: string;
  /** The start, in milliseconds since 1970. */
  at: number;
  door: Door;
  /** The config file; `null` for the demo. */
  config: string | null;
  ok: boolean;
  /** Why it failed: a FailureReason of the sandbox. */
  reason?: string | undefined;
  /** The time of the code. `beforeMs` is the time before it, for fetching tools. */
  durationMs: number;
  beforeMs: number;
  calls: number;
  failures: number;
  /** Characters of the tools' results, and of the code's answer. */
  charsIn: number;
  charsOut: number;
  hasContents: boolean;
  /** The id of the receipt. */
  receipt: string;
}

export interface ExecutionRecord extends Summary {
  code: { chars: number; lines: number; text?: string | undefined };
  /** In the order in which the calls were made. */
  timeline: RecordedCall[];
  /** Number of further calls, which are only counted. */
  moreCalls: number;
  logs: { lines: number; chars: number; entries?: RecordedLog[] | undefined };
  error?: RecordedError | undefined;
  value?: Excerpt | undefined;
}

export interface RecordedError {
  code?: string | undefined;
  line?: number | undefined;
  name?: string | undefined;
  message?: string | undefined;
  hint?: string | undefined;
}

export interface RecordedCall {
  server: string;
  tool: string;
  /** The line of code, counting from 1. */
  line?: number | undefined;
  /** Milliseconds since the code began. */
  startMs: number;
  endMs: number;
  outcome: "ok" | "failed" | "cancelled";
  /** Characters of the arguments as JSON, and of the result. */
  argumentChars: number;
  resultChars: number;
  /** The code of the error. */
  code?: string | undefined;
  message?: string | undefined;
  arguments?: Excerpt | undefined;
  result?: Excerpt | undefined;
}

/** The beginning of a text, without secrets. */
export interface Excerpt {
  text: string;
  /** Whether the text is complete. */
  isWhole: boolean;
}

export interface RecordedLog {
  level: string;
  text: string;
}
