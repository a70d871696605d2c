/** The call itself, as code would make it, again only where that can do no harm. */
import { setTimeout as wait } from "node:timers/promises";
import { ConnectionLost } from "../clients/connection-lost.ts";
import type { JsonObject } from "../clients/result.ts";
import { ClaudikinsError } from "../errors.ts";
import { callOnce } from "../flows/bindings.ts";
import type { Toolbox } from "../flows/toolbox.ts";
import type { RegistryTool } from "../registry/model.ts";
import { parsedValue } from "../sandbox/binding-value.ts";
import type { ServerTool } from "./options.ts";

/** Of starts and calls together. */
const maxTries = 3;
/** Before the second try; twice as long before the third. */
const firstWaitMs = 300;
/** A server that asks for more time is reported. */
const longestWaitMs = 5_000;

export interface CallSurroundings {
  toolbox: Toolbox;
  signal: AbortSignal;
  tell: (line: string) => void;
}

/**
 * The value of the result. The server is started first, so that a start that fails is known from a call that does. Throws
 * what `callOnce` throws, after its tries.
 */
export async function makeCall(wanted: ServerTool, args: JsonObject, around: CallSurroundings): Promise<unknown> {
  const { toolbox, signal, tell } = around;
  const server = wanted.server.name;
  const tool = wanted.tool.name;
  for (let attempt = 1; ; attempt++) {
    let isStarted = false;
    try {
      // What the config denies starts nothing.
      toolbox.pool.refuseDenied(server, tool);
      if (toolbox.pool.state(server).state !== "ready") await toolbox.learn(server, signal);
      isStarted = true;
      return parsedValue(await callOnce({ server, tool, args }, toolbox, signal, tell));
    } catch (error) {
      const waitMs = firstWaitMs * 2 ** (attempt - 1);
      const again = attempt < maxTries && !signal.aborted && mayRepeat(error, isStarted, wanted.tool);
      const restMs = again ? restOf(toolbox, server, waitMs) : undefined;
      if (restMs === undefined) throw error;
      tell(`${server} does not answer: try ${attempt + 1} of ${maxTries}`);
      await pause(restMs, signal);
    }
  }
}

/** Whether the tool did provably not run, or may run twice. A tool that was too slow once will be so again. */
function mayRepeat(error: unknown, isStarted: boolean, { annotations }: RegistryTool): boolean {
  if (!(error instanceof ClaudikinsError)) return false;
  const isSilent = error.code === "SERVER_UNAVAILABLE" || error.code === "CALL_TIMEOUT";
  if (!isStarted || !isSilent) return isSilent;
  const isUnsent = error instanceof ConnectionLost && !error.sent;
  return isUnsent || annotations?.["readOnlyHint"] === true || annotations?.["idempotentHint"] === true;
}

/** How long to wait; undefined where the server is left alone for longer than anybody waits, or for good. */
function restOf({ pool }: Toolbox, server: string, waitMs: number): number | undefined {
  const state = pool.state(server);
  if (state.state !== "broken") return waitMs;
  if (state.retryAt === undefined) return undefined;
  const restMs = Math.max(waitMs, state.retryAt - Date.now());
  return restMs <= longestWaitMs ? restMs : undefined;
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await wait(ms, undefined, { signal });
  } catch {
    throw new ClaudikinsError("CANCELLED", "The task was cancelled");
  }
}
