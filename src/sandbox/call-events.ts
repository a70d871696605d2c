/**
 * What happens to calls, as one stream of events. A program's receipt and everything else that watches calls is built from these events.
 */
import { type Clock, PausedTime } from "../base/time-limit.ts";
import type { BindingValue, CallRequest } from "./contract.ts";
import type { ErrorShape, SettleMessage } from "./messages.ts";

interface CallEventBase {
  /** Calls of an execution count from 1, in the order in which it made them. */
  call: number;
  request: CallRequest;
}

interface EndEventBase extends CallEventBase {
  /** Time in which a person was asked, in milliseconds. */
  waitedMs: number;
  /** Time of the call without `waitedMs`, in milliseconds. */
  durationMs: number;
}

export type CallEvent<Value = BindingValue> =
  | ({ type: "called" } & CallEventBase)
  | ({ type: "returned"; value: Value } & EndEventBase)
  | ({ type: "failed"; error: ErrorShape } & EndEventBase)
  /** The execution ended first, for the `reason` of its signal. */
  | ({ type: "cancelled"; reason: unknown } & EndEventBase)
  /** The call was answered before the execution was continued in this process. */
  | ({ type: "restored"; answer: SettleMessage } & CallEventBase);

/**
 * Gets every event of a call, in order. It delays the call, so it must be fast. The call waits for the promise of a listener that needs
 * time. Listeners do not throw.
 */
export type CallListener<Event = CallEvent> = (event: Event) => void | Promise<void>;

/**
 * Passes each event to all listeners. Returns a promise only if a listener needs time, because promises for the four events of a call cost
 * 15 µs.
 */
export function tellAll<Event>(listeners: readonly CallListener<Event>[]): CallListener<Event> {
  return (event) => {
    let waits: Promise<unknown> | undefined;
    for (const listener of listeners) {
      const wait = listener(event);
      if (wait) waits = waits ? Promise.all([waits, wait]) : wait;
    }
    return waits as Promise<void> | undefined;
  };
}

interface Call<Value> extends CallEventBase {
  signal: AbortSignal;
  /** Paused while a person is asked. */
  clock: Clock | undefined;
  listener: CallListener<CallEvent<Value>>;
}

/** Makes a call, and reports its start and its end to the listeners. `make` gets a clock that measures how long a person was asked. */
export async function observedCall<Value>(
  { call, request, signal, clock, listener }: Call<Value>,
  make: (clock: Clock) => Promise<Value>,
): Promise<Value> {
  const startedAt = performance.now();
  const paused = new PausedTime(clock);
  const cancelled = () =>
    ({
      type: "cancelled",
      reason: signal.reason,
      call,
      request,
      waitedMs: paused.ms,
      durationMs: performance.now() - startedAt - paused.ms,
    }) as const;
  const told = listener({ type: "called", call, request });
  if (told) await told;
  try {
    const value = await make(paused);
    const heard = listener(
      signal.aborted
        ? cancelled()
        : {
            type: "returned",
            value,
            call,
            request,
            waitedMs: paused.ms,
            durationMs: performance.now() - startedAt - paused.ms,
          },
    );
    if (heard) await heard;
    return value;
  } catch (error) {
    // A call that was cancelled with the execution did not fail.
    await listener(
      signal.aborted
        ? cancelled()
        : {
            type: "failed",
            error: errorShape(error),
            call,
            request,
            waitedMs: paused.ms,
            durationMs: performance.now() - startedAt - paused.ms,
          },
    );
    throw error;
  }
}

/** The part of an error that the program may see. It never contains a stack, a cause, or a path of this machine. */
export function errorShape(error: unknown): ErrorShape {
  const { code, hint, message, data } = error as Record<"code" | "hint" | "message" | "data", unknown>;
  return {
    name: "ToolError",
    message: typeof message === "string" ? message : String(error),
    ...(typeof code === "string" ? { code } : {}),
    ...(typeof hint === "string" ? { hint } : {}),
    ...(typeof data === "string" && typeof code === "string" ? { data } : {}),
  };
}
