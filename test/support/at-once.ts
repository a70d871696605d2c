/** Limits how much of a file runs at once: work that starts servers would make a machine too slow for time limits. */
import { Semaphore } from "../../src/base/semaphore.ts";

/** Returns a function that runs work, such as that of a concurrent test, when less than `count` other work of it runs. */
export function atMostAtOnce(count: number): <T>(work: () => Promise<T>) => Promise<T> {
  const semaphore = new Semaphore(count);
  return async (work) => {
    await semaphore.acquire(undefined);
    return await work().finally(() => semaphore.release());
  };
}
