/** The flags for the limits of an execution, one for each key of the config's `limits`. */
import { maxTimeoutMs } from "../config/defaults.ts";
import { ClaudikinsError } from "../errors.ts";
import type { Args, Values } from "./command.ts";
import { count, duration } from "./flags.ts";

const time = { type: "string", valueHint: "time", parse: duration(maxTimeoutMs) } as const;
const size = {
  type: "string",
  valueHint: "size",
  parse: (text: string, flag: string) => parseSize(text, flag, { from: 0.001, to: 512 }),
} as const;
const number = { type: "string", valueHint: "n" } as const;

export const limitArgs = {
  timeout: { ...time, description: "Stop the code after this time, such as 5000, 5s or 2m (default 30s)" },
  cpu: { ...time, description: "Stop the code after this much CPU time; waiting does not count (default 20s)" },
  memory: {
    ...size,
    description: "Memory limit of the code, such as 64mb (default 256mb)",
    parse: (text: string, flag: string) => Math.round(parseSize(text, flag, { from: 16, to: 2048 })),
  },
  stack: {
    ...size,
    description: "Stack size for nested calls, 32kb to 256kb (default 256kb)",
    parse: (text: string, flag: string) => Math.round(1_024 * parseSize(text, flag, { from: 1 / 32, to: 1 / 4 })),
  },
  calls: { ...number, description: "Maximum number of tool calls (default 10000)", parse: count(1_000_000) },
  "calls-in-flight": {
    ...number,
    description: "Maximum number of concurrent tool calls; others wait (default 100)",
    parse: count(1_000),
  },
  "argument-size": { ...size, description: "Maximum size of one call's arguments (default 8mb)" },
  "result-size": { ...size, description: "Maximum size of one call's result (default 64mb)" },
  "value-size": {
    ...size,
    description: "Maximum size of the returned value, and of all displayed values together (default 32mb)",
  },
  "log-size": {
    ...size,
    description: "Maximum size of the logs; longer logs keep only their beginning and end (default 8mb)",
  },
} as const satisfies Args;

/** The given limits by their keys in the config. */
export function limitsOf(flags: Values<typeof limitArgs>) {
  return {
    timeoutMs: flags.timeout,
    cpuMs: flags.cpu,
    memoryMb: flags.memory,
    stackKb: flags.stack,
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
