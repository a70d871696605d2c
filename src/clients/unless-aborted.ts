/** Waiting for something shared, and giving up alone. */
import { ClaudikinsError } from "../errors.ts";
import { onAbort } from "./on-abort.ts";

/** Who gives up waiting for something shared does not end it: others may wait for the same. Throws CANCELLED. */
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
