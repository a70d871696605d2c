/** exec: code → bindings → sandbox → outcome. */
import { maxTimeoutMs } from "../config/defaults.ts";
import type { Outcome } from "../sandbox/contract.ts";
import { askAgain, bindingsFor } from "./bindings.ts";
import type { Toolbox } from "./toolbox.ts";

export interface ExecuteRequest {
  source: string;
  /** Wall-clock limit; the config's when left out, never more than ten minutes. */
  timeoutMs?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** Whatever the code does is an outcome; throws only what is wrong with claudikins itself. */
export async function execute({ source, timeoutMs, signal }: ExecuteRequest, toolbox: Toolbox): Promise<Outcome> {
  const first = await run({ source, timeoutMs, signal }, toolbox);
  // Code is refused by what the registry says, which may be older than the server: it is asked before that counts.
  if (first.ok || first.reason !== "check" || first.error.name !== "CheckError") return first;
  return (await askAgain(source, toolbox, signal)) ? run({ source, timeoutMs, signal }, toolbox) : first;
}

async function run({ source, timeoutMs, signal }: ExecuteRequest, toolbox: Toolbox): Promise<Outcome> {
  const { limits } = toolbox.config;
  const bindings = await bindingsFor(source, toolbox, signal);
  return toolbox.sandbox.execute(source, {
    bindings,
    limits: {
      timeoutMs: Math.min(timeoutMs ?? limits.timeoutMs, maxTimeoutMs),
      memoryBytes: limits.memoryMb * 1_048_576,
    },
    mounts: toolbox.config.folders,
    check: toolbox.config.check,
    signal,
  });
}
