/**
 * Asks for a garbage collection after something large was handed on. The collector sees no reason to hurry: a large text or
 * buffer is a small object with memory outside its heap.
 */

let isDue = false;

/** Collects once for everything large of this moment. The main thread collects in the background, a worker at once. */
export function collectSoon(): void {
  if (isDue) return;
  isDue = true;
  setTimeout(() => {
    isDue = false;
    Bun.gc(!Bun.isMainThread);
  });
}
