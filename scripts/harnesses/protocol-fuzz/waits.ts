/**
 * How long threads were ready to run and had no core. Other work on the machine causes it, so it is taken off the time of a ping. Linux
 * counts it; elsewhere it is 0.
 */
import { readFileSync } from "node:fs";

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

function waitIn(file: string): number {
  try {
    return Number(readFileSync(file, "utf8").split(" ")[1]) / 1_000_000;
  } catch {
    return 0;
  }
}
