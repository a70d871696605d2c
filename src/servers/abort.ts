/** Listens to abort signals that many callers share. */
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

/** Calls back once, when the signal is aborted, or immediately if it already is. Returns a function that removes the callback. */
export function onAbort(signal: AbortSignal | undefined, callback: () => void): () => void {
  if (signal?.aborted) callback();
  else signal?.addEventListener("abort", callback, { once: true });
  return () => signal?.removeEventListener("abort", callback);
}
