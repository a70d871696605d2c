/** What a run does with an agent of either era. */
import type { Random } from "../../sandbox/fuzz/random.ts";

export interface CallOptions {
  /** The answers to questions of the call are random. Without it, nobody can be asked. */
  random?: Random | undefined;
  /** Cancels the call. */
  signal?: AbortSignal | undefined;
}

export interface Agent {
  /** Resolves with the milliseconds until the answer, which a process that is not blocked gives at once. */
  ping(): Promise<number>;
  readonly pid: number;
  /** Calls a tool. Resolves with the text of the result; undefined if the call or the process has ended without one. */
  call(name: string, args: object, options?: CallOptions): Promise<string | undefined>;
  /** Sends SIGTERM, and resolves with the milliseconds until the end. */
  terminate(): Promise<number>;
}

/** The milliseconds until it is settled. */
export async function timed(work: Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work;
  return performance.now() - startedAt;
}

/** The first text of a result, or the error. */
export function textOf(message: { result?: unknown; error?: unknown } | undefined): string | undefined {
  if (message === undefined) return undefined;
  const { content } = Object(message.result) as { content?: { text?: string }[] };
  return content?.[0]?.text ?? JSON.stringify(message.error ?? message.result);
}
