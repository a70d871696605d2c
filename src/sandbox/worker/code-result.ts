/** How the code of a program ended, as the engine and the guest report it. */
import type { FailureReason } from "../contract.ts";
import type { ErrorShape } from "../messages.ts";

export type CodeResult =
  /** `notes` is JSON of what the guest noticed. */
  { ok: true; json: string | undefined; notes?: string | undefined } | CodeFailure;

export interface CodeFailure {
  ok: false;
  reason: FailureReason;
  error: GuestError;
}

/** A failure as the guest reports it. */
export interface GuestError extends ErrorShape {
  stack: string;
  floating?: boolean;
  /** Names of tools that were read and do not exist. */
  missed?: string[];
  /** Properties that were read from promises of calls. */
  unawaited?: { tool: string; key: string }[];
}

export const outOfMemory = { name: "InternalError", message: "out of memory" };

export function guestFailure(thrown: Partial<GuestError>): CodeFailure {
  const error = { name: "Error", message: "", stack: "", ...thrown };
  return { ok: false, reason: reasonOf(error), error };
}

/** QuickJS has one error for each of its limits. */
function reasonOf({ name, message }: GuestError): FailureReason {
  if (name === "InternalError" && /^(?:out of memory|string too long)$/.test(message)) return "memory";
  return /^(?:Internal|Syntax)Error$/.test(name) && message === "stack overflow" ? "stack" : "threw";
}

/** `interrupted` is the exception that the stop caused inside. Its frames show where the code was. */
export function stoppedFailure(reason: FailureReason, interrupted?: Partial<GuestError>): CodeFailure {
  return { ok: false, reason, error: { name: "Error", message: "", stack: String(interrupted?.stack ?? "") } };
}

/**
 * Describes what the engine threw, an overflow of the host's stack, or an abort of the instance. `stopped` is the reason for which
 * the code was to stop, if it was.
 */
export function thrownFailure(thrown: unknown, stopped: FailureReason | undefined): CodeFailure {
  const { guest, cause } = thrown as { guest?: GuestError | null; cause?: GuestError };
  if (stopped !== undefined) return stoppedFailure(stopped, guest ?? cause);
  if (guest === null) return guestFailure(outOfMemory);
  const error = [guest, cause].find((each) => each !== null && typeof each === "object");
  if (error) return guestFailure(error);
  if (thrown instanceof RangeError) return guestFailure({ name: "InternalError", message: "stack overflow" });
  return { ok: false, reason: "crashed", error: { name: "EngineError", message: "", stack: "" } };
}
