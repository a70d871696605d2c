/** Many servers asked, one after the other in a few rows: what each gave, or why not, and none of them left running. */

import type { Pool } from "../clients/pool.ts";
import { ClaudikinsError, type ErrorCode, toClaudikinsError } from "../errors.ts";
import { Turns } from "../turns.ts";
import { listedAtOnce } from "./listing-queue.ts";

export interface Problem {
  code: ErrorCode;
  message: string;
  hint?: string;
}

/** Of one server, with what it gave. */
export type Answer<T> = { server: string; durationMs: number } & (T | { problem: Problem });

export interface AskOptions {
  signal?: AbortSignal | undefined;
  /** Told of each that is done. */
  onServer?: ((server: string) => void) | undefined;
}

/** In the order of the names. A server that fails is told of and stops no other; one that has answered is ended. */
export async function askAll<T extends object>(
  names: readonly string[],
  pool: Pool,
  ask: (server: string) => Promise<T>,
  { signal, onServer }: AskOptions = {},
): Promise<Answer<T>[]> {
  const turns = new Turns(listedAtOnce);
  return Promise.all(
    names.map(async (server) => {
      const turn = turns.take(signal);
      if (turn && !(await turn)) return { server, durationMs: 0, problem: notAsked(server) };
      const startedAt = performance.now();
      const given = await ask(server).catch((error: unknown) => ({ problem: problemOf(toClaudikinsError(error)) }));
      const durationMs = Math.round(performance.now() - startedAt);
      onServer?.(server);
      // Releasing a server that is still starting would keep a caller waiting who has given up; the end of the pool ends it.
      if (!signal?.aborted) await pool.release(server);
      turns.giveBack();
      return { server, durationMs, ...given };
    }),
  );
}

function notAsked(server: string): Problem {
  return problemOf(new ClaudikinsError("CANCELLED", `tools/list of ${server} was cancelled`));
}

function problemOf({ code, message, hint }: ClaudikinsError): Problem {
  return { code, message, ...(hint === undefined ? {} : { hint }) };
}
