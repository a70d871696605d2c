/** Lists servers that were never asked, so that the instructions of the next session show their calls. */
import type { App } from "../../app/app.ts";
import { usesOwn } from "../../config/credentials.ts";

/** Delay before servers that were never asked are listed. The agent's own first requests go first. */
const learnAfterMs = 3_000;

/** Begins a few seconds later, in the background, and ends with the session. `"surfaceLearns": false` turns it off. */
export function learnLater(app: App): Disposable {
  const over = new AbortController();
  const timer = setTimeout(() => {
    if (!app.isLocked && app.config.surfaceLearns) void learn(app, over.signal);
  }, learnAfterMs);
  timer.unref();
  return {
    [Symbol.dispose]: () => {
      clearTimeout(timer);
      over.abort();
    },
  };
}

/**
 * Asks one server after the other. A server that starts only for this is ended again. Problems of servers are not reported here, because
 * the calls that need the servers report them.
 */
async function learn({ catalog, pool, config }: App, signal: AbortSignal): Promise<void> {
  for (const name of catalog.missingServers()) {
    const server = config.servers.get(name);
    // The config may have changed meanwhile. A server with the credentials of people has no tools without them.
    if (!server || usesOwn(server)) continue;
    const { state } = pool.state(name);
    // A server that has failed was asked, and another one is being asked.
    if (state !== "idle" && state !== "ready") continue;
    await catalog.listMissing(signal, { only: [name], waitForOutdated: true });
    if (signal.aborted) return;
    if (state !== "idle" || server.keepAlive) continue;
    // A slow one is still being asked. One that the config has lost meanwhile is ended with that.
    void catalog.listingEnded(name).then(() => pool.release(name).catch(() => {}));
  }
}
