/** The limits of an execution as flags of a command: one for each key of the config's `limits`. */
import { maxTimeoutMs } from "../config/defaults.ts";
import { ClaudikinsError } from "../errors.ts";
import type { Args } from "./command.ts";
import { parseCount, parseDuration } from "./flags.ts";

const time = { type: "string", valueHint: "time" } as const;
const size = { type: "string", valueHint: "size" } as const;
const count = { type: "string", valueHint: "n" } as const;

export const limitArgs = {
  timeout: { ...time, description: "Stop the code after this time, such as 5000, 5s or 2m (default 30s)" },
  cpu: { ...time, description: "Stop the code after this much CPU time; waiting does not count (default 20s)" },
  memory: { ...size, description: "Memory limit of the code, such as 64mb (default 256mb)" },
  stack: { ...size, description: "Stack size for nested calls, 32kb to 256kb (default 256kb)" },
  calls: { ...count, description: "Maximum number of tool calls (default 10000)" },
  "calls-in-flight": { ...count, description: "Maximum number of concurrent tool calls; others wait (default 100)" },
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

type LimitFlags = { [Name in keyof typeof limitArgs]?: string | undefined };

/** The limits that are given, in the config's units. Throws USAGE. */
export function limitsOf(flags: LimitFlags) {
  const given = <T>(name: keyof typeof limitArgs, parse: (text: string, flag: string) => T): T | undefined => {
    const text = flags[name];
    return text === undefined ? undefined : parse(text, `--${name}`);
  };
  const duration = (text: string, flag: string) => parseDuration(text, flag, maxTimeoutMs);
  const megabytes = (text: string, flag: string) => parseSize(text, flag, { from: 0.001, to: 512 });
  return {
    timeoutMs: given("timeout", duration),
    cpuMs: given("cpu", duration),
    memoryMb: given("memory", (text, flag) => Math.round(parseSize(text, flag, { from: 16, to: 2048 }))),
    stackKb: given("stack", (text, flag) => Math.round(1_024 * parseSize(text, flag, { from: 1 / 32, to: 1 / 4 }))),
    calls: given("calls", (text, flag) => parseCount(text, flag, 1_000_000)),
    callsInFlight: given("calls-in-flight", (text, flag) => parseCount(text, flag, 1_000)),
    argumentMb: given("argument-size", megabytes),
    resultMb: given("result-size", megabytes),
    valueMb: given("value-size", megabytes),
    logMb: given("log-size", megabytes),
  };
}

/** `64mb`, `512kb`, `1gb` as megabytes. Throws USAGE. */
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
