/** Makes the call as code would, and repeats it only if that is safe. */
import { setTimeout as wait } from "node:timers/promises";
import { ClaudikinsError } from "../base/errors.ts";
import type { JsonObject } from "../base/json-object.ts";
import type { TraceContext } from "../base/trace-context.ts";
import { callOnce, isRepeatable } from "../programs/call.ts";
import type { Parts } from "../programs/parts.ts";
import { parsedValue } from "../sandbox/worker/binding-value.ts";
import { ConnectionLost } from "../servers/failures/server-failure.ts";
import type { RegistryTool } from "../tools/model.ts";
import { refuseCancelled } from "./asked-model.ts";
import type { ServerTool } from "./options.ts";

/** Maximum number of starts and calls together. There are fewer if each takes the full time limit. */
const maxCallTries = 3;

/** The same if each takes the full time limit. */
const maxCallTimeouts = 2;

/** Wait before the second try. It doubles for the third. */
const firstRetryMs = 300;

/** A server that asks for a longer wait is reported instead. */
const maxRetryMs = 5_000;

/**
 * Returns the value of the result. Starts the server first, to tell a failed start from a failed call. Throws what `callOnce`
 * throws on the last try.
 */
export async function makeCall(
  wanted: ServerTool,
  args: JsonObject,
  {
    parts,
    signal,
    trace,
    tell,
  }: { parts: Parts; signal: AbortSignal; trace: TraceContext | undefined; tell: (line: string) => void },
): Promise<unknown> {
  const server = wanted.server.name;
  const tool = wanted.tool.name;
  for (let attempt = 1; ; attempt++) {
    let isStarted = false;
    try {
      // A denied tool must not start its server.
      parts.pool.refuseDenied(server, tool);
      if (parts.pool.state(server).state !== "ready") await parts.catalog.tools(server, { signal });
      isStarted = true;
      return parsedValue(await callOnce({ server, tool, args }, parts, signal, { tell, trace }));
    } catch (error) {
      const waitMs = firstRetryMs * 2 ** (attempt - 1);
      const tries = signal.aborted ? 1 : triesAfter(error, isStarted, wanted.tool);
      const restMs = attempt < tries ? restOf(parts, server, waitMs) : undefined;
      if (restMs === undefined) throw error;
      tell(`${server} does not answer: attempt ${attempt + 1} of ${tries}`);
      // The wait rejects only when the signal is aborted.
      await wait(restMs, undefined, { signal }).catch(() => {});
      refuseCancelled(signal);
    }
  }
}

/** One try if the tool may have run and is neither read-only nor idempotent by its annotations. */
function triesAfter(error: unknown, isStarted: boolean, tool: RegistryTool): number {
  if (!(error instanceof ClaudikinsError)) return 1;
  const tries =
    error.code === "SERVER_UNAVAILABLE" ? maxCallTries : error.code === "CALL_TIMEOUT" ? maxCallTimeouts : 1;
  const isUnsent = !isStarted || (error instanceof ConnectionLost && !error.sent);
  return isUnsent || isRepeatable(tool) ? tries : 1;
}

/** How long to wait; undefined if the server stays unavailable for too long or for good. */
function restOf({ pool }: Parts, server: string, waitMs: number): number | undefined {
  const state = pool.state(server);
  if (state.state !== "broken") return waitMs;
  if (state.retryAt === undefined || state.lasting) return undefined;
  const restMs = Math.max(waitMs, state.retryAt - Date.now());
  return restMs <= maxRetryMs ? restMs : undefined;
}
