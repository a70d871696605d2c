/** Measures the memory of servers by process group, because the server is often a child of `npx` or a shell. */
import { readdirSync, readFileSync } from "node:fs";

/** Bytes by the process id of each group's leader. Empty on systems without `/proc`. */
export function residentBytes(leaders: readonly number[]): Map<number, number> {
  const sums = new Map<number, number>();
  if (leaders.length === 0) return sums;
  for (const name of processNames()) {
    try {
      // `pid (name of any characters) state ppid pgrp …`
      const fields = readFileSync(`/proc/${name}/stat`, "utf8")
        .replace(/^.*\) /s, "")
        .split(" ");
      const leader = Number(fields[2]);
      if (!leaders.includes(leader)) continue;
      const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${name}/status`, "utf8"))?.[1];
      sums.set(leader, (sums.get(leader) ?? 0) + Number(kilobytes ?? 0) * 1_024);
    } catch {
      // The process has ended meanwhile.
    }
  }
  return sums;
}

function processNames(): string[] {
  try {
    return readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}
