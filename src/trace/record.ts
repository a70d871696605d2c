/** What is kept of one execution: when, how it ended, its calls and their sizes; what was said in it only where somebody asked for that. */

/** Where the code came from. */
export const doors = ["exec", "serve"] as const;
export type Door = (typeof doors)[number];

/** What lists show: the first line of each file. */
export interface Summary {
  version: 1;
  id: string;
  /** When it began. Milliseconds since 1970. */
  at: number;
  door: Door;
  /** Its file; `null` for the demo's. */
  config: string | null;
  ok: boolean;
  /** Why it is not: a FailureReason of the sandbox. */
  reason?: string;
  /** Of the code; what was asked of servers before it ran took `beforeMs`. */
  durationMs: number;
  beforeMs: number;
  calls: number;
  failures: number;
  /** Characters that the tools gave to the code, and that the code gave back. */
  charsIn: number;
  charsOut: number;
  hasContents: boolean;
  /** The id that its receipt has. */
  receipt: string;
}

export interface ExecutionRecord extends Summary {
  code: { chars: number; lines: number; text?: string };
  /** By when they were made. */
  timeline: RecordedCall[];
  /** Calls after these, of which nothing is kept but that they were made. */
  moreCalls: number;
  logs: { lines: number; chars: number; entries?: RecordedLog[] };
  /** Where it failed. */
  error?: { code?: string; line?: number; name?: string; message?: string; hint?: string };
  value?: Excerpt;
}

export interface RecordedCall {
  server: string;
  tool: string;
  /** Of the code, counting from 1. */
  line?: number;
  /** Milliseconds since the code began. */
  startMs: number;
  endMs: number;
  outcome: "ok" | "failed" | "cancelled";
  /** Characters of JSON, and of the result. */
  argumentChars: number;
  resultChars: number;
  /** Of the error. */
  code?: string;
  message?: string;
  arguments?: Excerpt;
  result?: Excerpt;
}

/** The beginning of a text, without secrets. */
export interface Excerpt {
  text: string;
  /** Whether it is all there was. */
  isWhole: boolean;
}

export interface RecordedLog {
  level: string;
  text: string;
}
