/** Watches processes during a run: pings them without a pause, and measures their memory. */
import { readFileSync } from "node:fs";
import type { Agent } from "./agents/agent.ts";
import { waitedMs } from "./waits.ts";

/** The pause between two pings. */
const pingPauseMs = 10;

/** The memory is also measured while a process answers no ping. */
const memoryPauseMs = 25;

export interface Look {
  longestPingMs: number;
  /** The process that took this long. */
  slowest: string;
  /** The memory of the largest process. */
  mostMemoryMb: number;
  largest: string;
}

/** Watches the processes, and those that are started meanwhile, until the work is done. */
export async function watching(running: ReadonlyMap<string, Agent>, work: Promise<unknown>): Promise<Look> {
  const look: Look = { longestPingMs: 0, slowest: "", mostMemoryMb: 0, largest: "" };
  let isOver = false;
  const pinging = new Map<string, Promise<void>>();
  const pings = async (name: string, agent: Agent) => {
    while (!isOver) {
      const waited = waitedMs(agent.pid);
      const tookMs = (await agent.ping()) - (waitedMs(agent.pid) - waited);
      if (tookMs > look.longestPingMs) Object.assign(look, { longestPingMs: tookMs, slowest: name });
      await Bun.sleep(pingPauseMs);
    }
  };
  const looks = () => {
    for (const [name, agent] of running) {
      if (!pinging.has(name)) pinging.set(name, pings(name, agent));
      const memoryMb = memoryOf(agent.pid);
      if (memoryMb > look.mostMemoryMb) Object.assign(look, { mostMemoryMb: memoryMb, largest: name });
    }
  };
  looks();
  const timer = setInterval(looks, memoryPauseMs);
  await work.catch((error: unknown) => console.error(error));
  isOver = true;
  clearInterval(timer);
  await Promise.all(pinging.values());
  return look;
}

function memoryOf(pid: number): number {
  if (process.platform !== "linux") return 0;
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1_024;
  } catch {
    return 0;
  }
}
