/** How long main threads waited for a core, because other programs used all of them. Linux says it; elsewhere it is zero. */
import { readFileSync } from "node:fs";

export interface ThreadTimes {
  workedMs: number;
  /** For how long it was ready and had no core. */
  waitedMs: number;
}

/** The times of the main thread of a process. */
export function threadTimes(pid: number): ThreadTimes {
  try {
    const [worked, waited] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ");
    return { workedMs: Number(worked) / 1e6, waitedMs: Number(waited) / 1e6 };
  } catch {
    return { workedMs: 0, waitedMs: 0 };
  }
}
