/** Counts the `serve` processes of agents that run an executable. They use the old version until their agents are restarted. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import type { Environment } from "../../config/environment.ts";
import { runProgram } from "./run.ts";

/** Undefined if the system does not tell. Call it before the executable is replaced. */
export async function runningServes(path: string, env: Environment, signal: AbortSignal): Promise<number | undefined> {
  if (process.platform === "linux") return linuxServes(path);
  if (process.platform !== "darwin") return undefined;
  const { exitCode, stdout } = await runProgram(["ps", "-xww", "-o", "args="], { env, signal, timeoutMs: 5_000 });
  return exitCode === 0 ? stdout.split("\n").filter((line) => line.startsWith(`${path} serve`)).length : undefined;
}

function linuxServes(path: string): number {
  return readdirSync("/proc").filter((name) => {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) return false;
    try {
      const [, command] = readFileSync(`/proc/${name}/cmdline`, "utf8").split("\0");
      return command === "serve" && readlinkSync(`/proc/${name}/exe`) === path;
    } catch {
      // It has ended, or belongs to another user.
      return false;
    }
  }).length;
}
