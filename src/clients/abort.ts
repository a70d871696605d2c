/** Listens to abort signals that many callers share. */
import { ClaudikinsError } from "../errors.ts";

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

interface Callbacks {
  all: Set<() => void>;
  callAll: () => void;
}

const callbacksOf = new WeakMap<AbortSignal, Callbacks>();

/**
 * Calls back once, when the signal is aborted, or immediately if it already is. Returns a function that removes the callback.
 * Each signal gets only one listener, because adding a listener searches through all others of the signal.
 */
export function onAbort(signal: AbortSignal | undefined, callback: () => void): () => void {
  if (!signal) return () => {};
  if (signal.aborted) {
    callback();
    return () => {};
  }
  const { all, callAll } = callbacksOf.get(signal) ?? listenTo(signal);
  all.add(callback);
  return () => {
    all.delete(callback);
    if (all.size > 0 || signal.aborted) return;
    signal.removeEventListener("abort", callAll);
    callbacksOf.delete(signal);
  };
}

function listenTo(signal: AbortSignal): Callbacks {
  const all = new Set<() => void>();
  const callAll = () => {
    for (const callback of all) callback();
  };
  signal.addEventListener("abort", callAll, { once: true });
  const callbacks = { all, callAll };
  callbacksOf.set(signal, callbacks);
  return callbacks;
}
