/**
 * The callers of saved programs. A call of a saved program goes through the pool, like every other call, to a server in this process. The
 * server finds the caller by a token in the request.
 */
import type { JsonObject } from "../../base/json-object.ts";
import type { Clock } from "../../base/time-limit.ts";
import type { CallPosition } from "../../sandbox/contract.ts";
import type { RequestingProgram } from "./requesting-program.ts";

export interface ProgramCaller extends RequestingProgram {
  position: CallPosition;
  /** The version of the program that is called. Undefined: the newest. */
  version: number | undefined;
  /** Pauses the calling program. */
  pause: Clock | undefined;
  signal: AbortSignal;
}

const key = "claudikins/caller";
const callers = new Map<string, ProgramCaller>();

/** Makes a call with `_meta` that leads to its caller. */
export async function calledBy<T>(caller: ProgramCaller, call: (meta: JsonObject) => Promise<T>): Promise<T> {
  const token = crypto.randomUUID();
  callers.set(token, caller);
  try {
    return await call({ [key]: token });
  } finally {
    callers.delete(token);
  }
}

/** Undefined if no program has made the call. */
export function callerIn(meta: JsonObject | undefined): ProgramCaller | undefined {
  return callers.get(String(meta?.[key]));
}
