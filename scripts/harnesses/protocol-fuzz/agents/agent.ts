/** What a run does with an agent of either era. */
import type { Random } from "../../random.ts";

export interface CallOptions {
  /** The answers to questions of the call are random. Without it, nobody can be asked. */
  random?: Random | undefined;
  /** Cancels the call. */
  signal?: AbortSignal | undefined;
}

export interface Agent {
  /** Resolves with the milliseconds until the answer, see `timed`. A process that is not blocked answers at once. */
  ping(): Promise<number>;
  readonly pid: number;
  /** Calls a tool. Resolves with the text of the result; undefined if the call or the process has ended without one. */
  call(name: string, args: object, options?: CallOptions): Promise<string | undefined>;
  /** Sends SIGTERM, and resolves with the milliseconds until the end, see `millisecondsToEnd`. */
  terminate(): Promise<number>;
}

/** The first text of a result, or the error. */
export function textOf(message: { result?: unknown; error?: unknown } | undefined): string | undefined {
  if (message === undefined) return undefined;
  const { content } = Object(message.result) as { content?: { text?: string }[] };
  return content?.[0]?.text ?? JSON.stringify(message.error ?? message.result);
}
