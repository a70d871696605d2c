/**
 * Asks for a garbage collection after a large text or buffer was passed on. The collector does not run by itself, because a large text or
 * buffer is a small object whose memory is outside its heap.
 */

import { edenGC, fullGC } from "bun:jsc";
import { megabyte } from "./units.ts";

/** Time from a large text to the collection on the main thread. By then a result is in its program. */
const collectMainAfterMs = 100;

/** Bytes of large texts after which the main thread collects everything, not only new objects. */
const fullCollectionBytes = 16 * megabyte;

let isDue = false;
let uncollectedBytes = 0;

/**
 * Runs one collection soon, however often it is called. `bytes` is the approximate size of the text or buffer. A worker collects at once.
 * The main thread waits until others are likely to be done with it, and collects everything only after many bytes, which takes 15 ms.
 * Collecting only new objects takes 1 ms. `Bun.gc(false)` does not help there, because its collection makes progress only while the thread
 * allocates objects.
 */
export function collectSoon(bytes: number): void {
  uncollectedBytes += bytes;
  if (isDue) return;
  isDue = true;
  if (Bun.isMainThread) setTimeout(collectMain, collectMainAfterMs).unref();
  else setTimeout(collectWorker);
}

function collectMain(): void {
  isDue = false;
  if (uncollectedBytes < fullCollectionBytes) {
    edenGC();
    return;
  }
  uncollectedBytes = 0;
  fullGC();
}

function collectWorker(): void {
  isDue = false;
  Bun.gc(true);
}
