/** The error of a promise that rejects. Bun's `rejects.toMatchObject` waits forever for some promises that other threads settle. */
export async function rejection(promise: Promise<unknown>): Promise<Error & { code?: unknown; hint?: unknown }> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof Error) return error;
    throw error;
  }
  throw new Error("the promise has resolved");
}
