/** Limits how often work runs that anyone can cause. Callers in the meantime share the next run. */

/**
 * Returns a function that runs `work`, at once if it has not run for `everyMs`. Callers that come while it runs share the next run, so that
 * each sees the state from after its call. Rejects as the run does.
 */
export function spaced(work: () => Promise<void>, everyMs: number): () => Promise<void> {
  let begunAt = Number.NEGATIVE_INFINITY;
  let last = Promise.resolve();
  let next: Promise<void> | undefined;
  const run = async () => {
    await last.catch(() => {});
    await Bun.sleep(Math.max(0, begunAt + everyMs - performance.now()));
    next = undefined;
    begunAt = performance.now();
    last = work();
    await last;
  };
  return () => {
    next ??= run();
    return next;
  };
}
