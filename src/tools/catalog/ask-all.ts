/** Asks many servers, a few at a time. */

import { ClaudikinsError, type Problem, problemOf } from "../../base/errors.ts";
import { Semaphore } from "../../base/semaphore.ts";
import type { Pool } from "../../servers/pool.ts";
import { listedAtOnce } from "./listing-queue.ts";

/** The answer of one server, or its problem. */
export type Answer<T> = { server: string; durationMs: number } & (T | { problem: Problem });

/** The error of a command that was interrupted before these of its servers had answered. */
export function interruptedBefore(unasked: readonly { server: string }[], total: number): ClaudikinsError {
  const names = unasked.map(({ server }) => server).join(", ");
  return new ClaudikinsError(
    "CANCELLED",
    `Interrupted before ${unasked.length} of ${total} servers had answered: ${names}`,
  );
}

export interface AskOptions {
  signal?: AbortSignal | undefined;
  /** Called after each server. */
  onServer?: ((server: string) => void) | undefined;
}

/**
 * Returns answers in the order of the names. The answer of a server that fails is a problem. With a pool, each server is
 * released afterwards.
 */
export async function askAll<T extends object>(
  names: readonly string[],
  pool: Pool | undefined,
  ask: (server: string) => Promise<T>,
  { signal, onServer }: AskOptions = {},
): Promise<Answer<T>[]> {
  const semaphore = new Semaphore(listedAtOnce);
  return Promise.all(
    names.map(async (server) => {
      const turn = semaphore.acquire(signal);
      if (turn && !(await turn)) {
        const error = new ClaudikinsError("CANCELLED", `tools/list of ${server} was cancelled`);
        return { server, durationMs: 0, problem: problemOf(error) };
      }
      const startedAt = performance.now();
      const given = await ask(server).catch((error: unknown) => ({ problem: problemOf(error) }));
      const durationMs = Math.round(performance.now() - startedAt);
      onServer?.(server);
      // Releasing a server that is still starting would keep a caller waiting who has given up; the end of the pool ends it.
      if (!signal?.aborted) await pool?.release(server);
      semaphore.release();
      return { server, durationMs, ...given };
    }),
  );
}
