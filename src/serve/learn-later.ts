/** Lists servers that were never asked, so that the instructions of the next session show their calls. */
import type { Toolbox } from "../app/toolbox.ts";
import { learnAfterMs } from "./limits.ts";

/** Begins a few seconds later, in the background, and ends with the session. `"surfaceLearns": false` turns it off. */
export function learnLater(toolbox: Toolbox): Disposable {
  const over = new AbortController();
  const timer = setTimeout(() => {
    if (!toolbox.isLocked && toolbox.config.surfaceLearns) void toolbox.catalog.learn(over.signal);
  }, learnAfterMs);
  timer.unref();
  return {
    [Symbol.dispose]: () => {
      clearTimeout(timer);
      over.abort();
    },
  };
}
