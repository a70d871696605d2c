/** The flags for how a program runs: its limits, one for each key of the config's `limits`, and the dry run. */
import { ClaudikinsError } from "../../base/errors.ts";
import { maxTimeoutMs } from "../../config/limits.ts";
import { DryRun } from "../../programs/dry-run/dry-run.ts";
import { type Args, type ArgumentValues, flag, option } from "../command.ts";
import { countUpTo, timeUpTo } from "./flags.ts";

/** A size in megabytes. */
const sizeUpTo = (to: number, from = 0.001) =>
  ({ valueHint: "size", parse: (text: string, flag: string) => parseSize(text, flag, { from, to }) }) as const;

const time = timeUpTo(maxTimeoutMs);

export const limitArgs = {
  timeout: option("Stop the code after this time, such as 5000, 5s or 2m (default 30s)", time),
  cpu: option("Stop the code after this much CPU time; waiting does not count (default 20s)", time),
  memory: option("Memory limit of the code, such as 64mb (default 256mb)", sizeUpTo(2048, 16)),
  stack: option("Stack size for nested calls, 32kb to 256kb (default 256kb)", sizeUpTo(1 / 4, 1 / 32)),
  calls: option("Maximum number of tool calls (default 10000)", countUpTo(1_000_000)),
  "calls-in-flight": option("Maximum number of concurrent tool calls; others wait (default 100)", countUpTo(1_000)),
  "argument-size": option("Maximum size of one call's arguments (default 8mb)", sizeUpTo(512)),
  "result-size": option("Maximum size of one call's result (default 64mb)", sizeUpTo(512)),
  "value-size": option(
    "Maximum size of the returned value, and of all displayed values together (default 32mb)",
    sizeUpTo(512),
  ),
  "log-size": option(
    "Maximum size of the logs; longer logs keep only their beginning and end (default 8mb)",
    sizeUpTo(512),
  ),
} as const satisfies Args;

/** The given limits by their keys in the config. */
export function flaggedLimits(flags: ArgumentValues<typeof limitArgs>) {
  return {
    timeoutMs: flags.timeout,
    cpuMs: flags.cpu,
    memoryMb: flags.memory && Math.round(flags.memory),
    stackKb: flags.stack && Math.round(1_024 * flags.stack),
    calls: flags.calls,
    callsInFlight: flags["calls-in-flight"],
    argumentMb: flags["argument-size"],
    resultMb: flags["result-size"],
    valueMb: flags["value-size"],
    logMb: flags["log-size"],
  };
}

/** Parses `64mb`, `512kb` or `1gb`. Returns megabytes. Throws USAGE. */
function parseSize(text: string, flag: string, { from, to }: { from: number; to: number }): number {
  const match = /^(\d+(?:\.\d+)?)(kb|mb|gb)$/i.exec(text);
  const megabytes = Number(match?.[1]) * { kb: 1 / 1_024, mb: 1, gb: 1_024 }[match?.[2]?.toLowerCase() ?? "mb"]!;
  if (!match || megabytes < from || megabytes > to) {
    throw new ClaudikinsError(
      "USAGE",
      `${flag} takes a size like 64mb, from ${sizeText(from)} to ${sizeText(to)}; got "${text}"`,
    );
  }
  return megabytes;
}

function sizeText(megabytes: number): string {
  return megabytes < 1 ? `${Math.round(megabytes * 1_024)}kb` : `${megabytes}mb`;
}

/** The flag `--dry-run` of commands that run a program. */
export const dryRunArgs = {
  "dry-run": flag("Call only tools that read, and list the calls that would change something instead of making them"),
} as const satisfies Args;

export function dryRunOf(flags: { "dry-run"?: boolean | undefined }): DryRun | undefined {
  return flags["dry-run"] ? new DryRun() : undefined;
}
