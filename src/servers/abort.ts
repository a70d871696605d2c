/** Cancelling: listens to abort signals that many callers share, and cancels single requests. */
import { ClaudikinsError } from "../base/errors.ts";

/** Rejects with CANCELLED when `signal` is aborted. The promise itself goes on: other callers may wait for it. */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined, what: string): Promise<T> {
  if (!signal) return promise;
  const aborted = Promise.withResolvers<never>();
  const stopListening = onAbort(signal, () =>
    aborted.reject(new ClaudikinsError("CANCELLED", `${what} was cancelled`)),
  );
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    stopListening();
  }
}

/** The callbacks of signals that many calls wait for. */
const shared = new WeakMap<AbortSignal, Set<() => void>>();

/** Listens to the signal once for all callers of `onAbort`, for as long as the signal exists: a listener of its own takes a call 7 µs. */
export function shareListener(signal: AbortSignal): void {
  if (shared.has(signal)) return;
  const callbacks = new Set<() => void>();
  shared.set(signal, callbacks);
  const callAll = () => {
    for (const callback of callbacks) callback();
  };
  signal.addEventListener("abort", callAll, { once: true });
}

/** Calls back once, when the signal is aborted, or immediately if it already is. Returns a function that removes the callback. */
export function onAbort(signal: AbortSignal | undefined, callback: () => void): () => void {
  if (!signal) return () => {};
  const callbacks = shared.get(signal);
  if (signal.aborted) callback();
  else if (callbacks) callbacks.add(callback);
  else signal.addEventListener("abort", callback, { once: true });
  return () => (callbacks ? void callbacks.delete(callback) : signal.removeEventListener("abort", callback));
}

/** Cancels one request. Most requests are never cancelled, and need no signal: making one and listening to it takes 7 µs. */
export class Cancellation {
  /** Called once. */
  onCancel: ((reason: unknown) => void) | undefined;
  isCancelled = false;
  #reason: unknown;
  #controller: AbortController | undefined;

  cancel(reason: unknown): void {
    if (this.isCancelled) return;
    this.isCancelled = true;
    this.#reason = reason;
    this.#controller?.abort(reason);
    this.onCancel?.(reason);
  }

  get reason(): unknown {
    return this.#reason;
  }

  /** The same as a signal, for those who need one. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.isCancelled) this.#controller.abort(this.#reason);
    return this.#controller.signal;
  }
}
