/** The CPU that processes have used, as the kernel of Linux counts it. */
import { readdirSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import { hasProc } from "./measure.ts";

/** The kernel counts hundredths of a second. */
const tickMs = 10;

/** Milliseconds of CPU that all processes of an executable have used so far. 0 without `/proc`. */
export function cpuOfExecutable(file: string): number {
  const executable = realpathSync(file);
  return sumOf((pid) => readlinkSync(`/proc/${pid}/exe`) === executable);
}

/** Milliseconds of CPU that a process and its children have used so far. 0 without `/proc`. */
export function cpuOfParent(parent: number): number {
  return sumOf((pid, [, ppid]) => pid === String(parent) || ppid === String(parent));
}

/** Milliseconds of CPU that a process has used so far. 0 without `/proc`. */
export function cpuOf(process: number): number {
  return sumOf((pid) => pid === String(process));
}

/** `counts` gets the id of each process, and the fields of its state from the third one on. */
function sumOf(counts: (pid: string, fields: readonly string[]) => boolean): number {
  if (!hasProc) return 0;
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .reduce((sum, pid) => sum + usedBy(pid, counts), 0);
}

function usedBy(pid: string, counts: (pid: string, fields: readonly string[]) => boolean): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ");
    return counts(pid, fields) ? (Number(fields[11]) + Number(fields[12])) * tickMs : 0;
  } catch {
    // It has just ended.
    return 0;
  }
}
