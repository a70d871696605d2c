/** Lets SIGTERM, SIGINT and SIGHUP end the process when its main thread is blocked and cannot run its handlers. */
import type { Log } from "../../base/log.ts";
import { startWorker } from "../../base/off-thread.ts";

/** Delay before the signal guard starts. The first answers to a host do not wait for the start of another thread. */
const signalGuardAfterMs = 1_000;

/** Time in milliseconds after which a main thread that does not answer counts as blocked. With less, a busy machine made it look blocked. */
const blockedMs = 600;

/** The same for a process that serves many agents: what it runs and has in memory is lost if it does not end in an orderly way. */
export const servingBlockedMs = 5_000;

/**
 * Starts a thread that asks the main thread ten times a second whether it still runs. If it has not answered for `afterMs`, the signals
 * have the system's default action, which ends the process at once; the watchdog then ends its servers. A signal that
 * arrives earlier in a block is handled when the block ends. Windows has no such signals.
 */
export function guardSignals(log: Log, afterMs: number = blockedMs): Disposable {
  if (process.platform === "win32") return { [Symbol.dispose]: () => {} };
  let worker: Worker | undefined;
  const timer = setTimeout(() => {
    worker = startGuard(log);
    worker.postMessage({ afterMs });
  }, signalGuardAfterMs);
  timer.unref();
  return {
    [Symbol.dispose]: () => {
      clearTimeout(timer);
      worker?.terminate();
    },
  };
}

function startGuard(log: Log): Worker {
  const worker = startWorker("./cli/signal-guard/worker.ts", { smol: true });
  worker.unref();
  worker.onmessage = ({ data }: MessageEvent<"alive?" | { problem: string }>) => {
    if (data === "alive?") worker.postMessage("alive");
    else log.debug(`signals are not guarded: ${data.problem}`);
  };
  worker.onerror = (event) => {
    event.preventDefault();
    log.debug(`signals are not guarded: ${event.message}`);
  };
  return worker;
}
