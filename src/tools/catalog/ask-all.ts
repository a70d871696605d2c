/** Asks many servers for a command, a few at a time. */

import { ClaudikinsError, type Problem, problemOf } from "../../base/errors.ts";
import { onAbort } from "../../servers/abort.ts";
import { Listings } from "../../servers/lists/listings.ts";
import type { Pool } from "../../servers/pool.ts";

/** The answer of one server, or its problem. */
export type ServerAnswer<T> = { server: string; durationMs: number } & (T | { problem: Problem });

/** The error of a command that was interrupted before these servers had answered. */
export function interruptedBefore(unasked: readonly { server: string }[], total: number): ClaudikinsError {
  const names = unasked.map(({ server }) => server).join(", ");
  return new ClaudikinsError(
    "CANCELLED",
    `Interrupted before ${unasked.length} of ${total} servers had answered: ${names}`,
  );
}

export interface AskAllOptions {
  signal?: AbortSignal | undefined;
  /** Called after each server. */
  onServer?: ((server: string) => void) | undefined;
}

/**
 * Returns answers in the order of the names. The answer is a problem if the server fails, or if it was not
 * asked before the signal came. With a pool, each server is released afterwards.
 */
export async function askAll<T extends object>(
  names: readonly string[],
  pool: Pool | undefined,
  ask: (server: string) => Promise<T>,
  { signal, onServer }: AskAllOptions = {},
): Promise<ServerAnswer<T>[]> {
  using whole = new DisposableStack();
  const listings = whole.use(new Listings<ServerAnswer<T>>());
  whole.defer(onAbort(signal, () => listings[Symbol.dispose]()));
  const asked = async (server: string): Promise<ServerAnswer<T>> => {
    const startedAt = performance.now();
    const given = await ask(server).catch((error: unknown) => ({ problem: problemOf(error) }));
    const durationMs = Math.round(performance.now() - startedAt);
    onServer?.(server);
    // Releasing a server that is still starting would delay a caller that has given up. Closing the pool ends the server.
    if (!signal?.aborted) await pool?.release(server);
    return { server, durationMs, ...given };
  };
  const inTurn = (server: string) => listings.join(server, () => asked(server), { inTurn: true });
  const unasked = (server: string, error: unknown) => ({ server, durationMs: 0, problem: problemOf(error) });
  return await Promise.all(names.map((server) => inTurn(server).catch((error: unknown) => unasked(server, error))));
}
