/**
 * How long threads were ready to run and had no core. Other work on the machine causes it, so it is taken off the time of a ping and of
 * an end. Linux counts it; elsewhere it is 0.
 */
import { readFileSync } from "node:fs";
import { eventually } from "../../../test/support/eventually.ts";

/** The wait of the main thread of a process. 0 if it has ended. */
export function waitedMs(pid: number): number {
  return waitIn(`/proc/${pid}/task/${pid}/schedstat`);
}

/** The wait of the calling thread. */
export function ownWaitMs(): number {
  return waitIn("/proc/thread-self/schedstat");
}

/** The milliseconds until it is settled, without those in which this thread had no core. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const [startedAt, waited] = [performance.now(), ownWaitMs()];
  await work();
  return performance.now() - startedAt - (ownWaitMs() - waited);
}

/** The pause between two looks at a process that ends: its wait can be read only while it lives. */
const lookMs = 20;

/** Sends SIGTERM. Resolves with the milliseconds until the process has ended, without those in which its main thread had no core. */
export async function millisecondsToEnd(pid: number, hasEnded: () => boolean): Promise<number> {
  if (hasEnded()) return 0;
  const [startedAt, before] = [performance.now(), waitedMs(pid)];
  let waited = before;
  process.kill(pid, "SIGTERM");
  await eventually(
    () => {
      waited = Math.max(waited, waitedMs(pid));
      return hasEnded();
    },
    { everyMs: lookMs },
  );
  return performance.now() - startedAt - (waited - before);
}

function waitIn(file: string): number {
  try {
    return Number(readFileSync(file, "utf8").split(" ")[1]) / 1_000_000;
  } catch {
    return 0;
  }
}
