/**
 * Asks for a garbage collection after something large was handed on. The collector does not run by itself, because a large text or
 * buffer is a small object whose memory is outside its heap.
 */

let isDue = false;

/** Runs one collection soon, however often it is called. The main thread collects in the background, a worker synchronously. */
export function collectSoon(): void {
  if (isDue) return;
  isDue = true;
  setTimeout(() => {
    isDue = false;
    Bun.gc(!Bun.isMainThread);
  });
}
