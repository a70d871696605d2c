/** The processes of a server and their memory, by process group, because the server is often a child of `npx` or a shell. */
import { readdirSync, readFileSync } from "node:fs";

/** Bytes by the process id of each group's leader. Empty on systems without `/proc`. */
export function residentBytes(leaders: readonly number[]): Map<number, number> {
  const sums = new Map<number, number>();
  if (leaders.length === 0) return sums;
  for (const name of processNames()) {
    try {
      const leader = leaderOf(name);
      if (!leaders.includes(leader)) continue;
      const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${name}/status`, "utf8"))?.[1];
      sums.set(leader, (sums.get(leader) ?? 0) + Number(kilobytes ?? 0) * 1_024);
    } catch {
      // The process has ended meanwhile.
    }
  }
  return sums;
}

/** The processes of a group without its leader. Empty on systems without `/proc`. */
export function membersOf(leader: number): number[] {
  return processNames()
    .filter((name) => Number(name) !== leader && isMember(name, leader))
    .map(Number);
}

function isMember(name: string, leader: number): boolean {
  try {
    return leaderOf(name) === leader;
  } catch {
    return false;
  }
}

/** Throws if the process has ended. */
function leaderOf(name: string): number {
  // `pid (name of any characters) state ppid pgrp …`
  const fields = readFileSync(`/proc/${name}/stat`, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ");
  return Number(fields[2]);
}

function processNames(): string[] {
  try {
    return readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}
