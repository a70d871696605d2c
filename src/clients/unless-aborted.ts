/** Waiting for something shared, and giving up alone. */
import { ClaudikinsError } from "../errors.ts";

/** Who gives up waiting for something shared does not end it: others may wait for the same. Throws CANCELLED. */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined, what: string): Promise<T> {
  if (!signal) return promise;
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(new ClaudikinsError("CANCELLED", `${what} was cancelled`));
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
