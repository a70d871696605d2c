/** Asks for a garbage collection after a large message. The collector sees no reason to hurry: most of it is outside its heap. */

let isDue = false;

/** Collects once for all messages of this moment, after they were handed on. */
export function collectSoon(): void {
  if (isDue) return;
  isDue = true;
  setTimeout(() => {
    isDue = false;
    Bun.gc(false);
  });
}
