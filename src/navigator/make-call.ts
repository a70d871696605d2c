/** The call itself, as code would make it, again only where that can do no harm. */
import { setTimeout as wait } from "node:timers/promises";
import { ConnectionLost } from "../clients/server-failure.ts";
import { ClaudikinsError } from "../errors.ts";
import { callOnce } from "../execution/call-tool.ts";
import type { Parts } from "../execution/parts.ts";
import type { JsonObject } from "../json-object.ts";
import type { RegistryTool } from "../registry/model.ts";
import { parsedValue } from "../sandbox/binding-value.ts";
import { refuseCancelled } from "./asked-model.ts";
import type { ServerTool } from "./options.ts";

/** Of starts and calls together; fewer where each takes all of the time that a call may take. */
const maxTries = 3;
const maxTimeouts = 2;
/** Before the second try; twice as long before the third. */
const firstWaitMs = 300;
/** A server that asks for more time is reported. */
const longestWaitMs = 5_000;

export interface CallSurroundings {
  parts: Parts;
  signal: AbortSignal;
  tell: (line: string) => void;
}

/**
 * The value of the result. The server is started first, so that a start that fails is known from a call that does. Throws
 * what `callOnce` throws, after its tries.
 */
export async function makeCall(wanted: ServerTool, args: JsonObject, around: CallSurroundings): Promise<unknown> {
  const { parts, signal, tell } = around;
  const server = wanted.server.name;
  const tool = wanted.tool.name;
  for (let attempt = 1; ; attempt++) {
    let isStarted = false;
    try {
      // What the config denies starts nothing.
      parts.pool.refuseDenied(server, tool);
      if (parts.pool.state(server).state !== "ready") await parts.catalog.fetch(server, signal);
      isStarted = true;
      return parsedValue(await callOnce({ server, tool, args }, parts, signal, tell));
    } catch (error) {
      const waitMs = firstWaitMs * 2 ** (attempt - 1);
      const tries = signal.aborted ? 1 : triesAfter(error, isStarted, wanted.tool);
      const restMs = attempt < tries ? restOf(parts, server, waitMs) : undefined;
      if (restMs === undefined) throw error;
      tell(`${server} does not answer: attempt ${attempt + 1} of ${tries}`);
      await pause(restMs, signal);
    }
  }
}

/** One where the tool may have run, and says of itself neither that it only reads nor that twice is as good as once. */
function triesAfter(error: unknown, isStarted: boolean, { annotations }: RegistryTool): number {
  if (!(error instanceof ClaudikinsError)) return 1;
  const tries = error.code === "SERVER_UNAVAILABLE" ? maxTries : error.code === "CALL_TIMEOUT" ? maxTimeouts : 1;
  const isUnsent = !isStarted || (error instanceof ConnectionLost && !error.sent);
  const isRepeatable = annotations?.["readOnlyHint"] === true || annotations?.["idempotentHint"] === true;
  return isUnsent || isRepeatable ? tries : 1;
}

/** How long to wait; undefined where the server is left alone for longer than anybody waits, or for good. */
function restOf({ pool }: Parts, server: string, waitMs: number): number | undefined {
  const state = pool.state(server);
  if (state.state !== "broken") return waitMs;
  if (state.retryAt === undefined) return undefined;
  const restMs = Math.max(waitMs, state.retryAt - Date.now());
  return restMs <= longestWaitMs ? restMs : undefined;
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  // It fails when the signal is aborted, and for nothing else.
  await wait(ms, undefined, { signal }).catch(() => {});
  refuseCancelled(signal);
}
