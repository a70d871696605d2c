/** Work that anybody can cause, and that is done seldom: all who ask in the meantime share the next run. */

/**
 * Returns a function that runs `work`, at once if it has not run for `everyMs`. A run that has begun does not count for those who ask
 * afterwards: they share the next one, so each hears of what was there when it asked. Rejects as the run does.
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
