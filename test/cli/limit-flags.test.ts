/** The flags for limits are converted to the units of the config. */
import { expect, test } from "bun:test";
import { commandValues } from "../../src/cli/command-line.ts";
import { flaggedLimits, limitArgs } from "../../src/cli/flags/limit-flags.ts";
import { defaultLimits } from "../../src/config/defaults.ts";
import { limitsSchema } from "../../src/config/limits-schema.ts";

/** The limits of a command line with these flags. */
function limits(flags: Record<string, string | undefined>) {
  const words = Object.entries(flags).flatMap(([name, text = ""]) => [`--${name}`, text]);
  return flaggedLimits(commandValues(words, limitArgs, "exec"));
}

test("every limit of the config has a flag, except the limit of what agents see", () => {
  const all = limits({});
  expect(Object.keys({ ...all, outputChars: 0 })).toEqual(Object.keys(defaultLimits));
  expect(Object.keys(limitArgs)).toHaveLength(Object.keys(all).length);
});

test.each([
  [{ timeout: "2m" }, { timeoutMs: 120_000 }],
  [{ cpu: "1500" }, { cpuMs: 1_500 }],
  [{ memory: "64mb" }, { memoryMb: 64 }],
  [{ memory: "1GB" }, { memoryMb: 1_024 }],
  [{ stack: "64kb" }, { stackKb: 64 }],
  [{ calls: "5" }, { calls: 5 }],
  [{ "calls-in-flight": "1" }, { callsInFlight: 1 }],
  [{ "argument-size": "512kb" }, { argumentMb: 0.5 }],
  [{ "result-size": "1.5mb" }, { resultMb: 1.5 }],
  [{ "value-size": "2mb" }, { valueMb: 2 }],
  [{ "log-size": "512mb" }, { logMb: 512 }],
])("%j becomes %j, which is valid in the config", (flags, wanted) => {
  expect(limits(flags)).toMatchObject(wanted);
  expect(limitsSchema.parse(wanted)).toMatchObject(wanted);
});

test.each([
  [{ timeout: "11m" }, '--timeout takes a time like 5000, 5s or 2m, at most 10m; got "11m"'],
  [{ cpu: "0" }, '--cpu takes a time like 5000, 5s or 2m, at most 10m; got "0"'],
  [{ memory: "64" }, '--memory takes a size like 64mb, from 16mb to 2048mb; got "64"'],
  [{ memory: "8mb" }, '--memory takes a size like 64mb, from 16mb to 2048mb; got "8mb"'],
  [{ stack: "1mb" }, '--stack takes a size like 64mb, from 32kb to 256kb; got "1mb"'],
  [{ calls: "many" }, '--calls takes a whole number from 1 to 1000000; got "many"'],
  [{ "value-size": "-1mb" }, '--value-size takes a size like 64mb, from 1kb to 512mb; got "-1mb"'],
])("%j is refused with the allowed range", (flags, message) => {
  expect(() => limits(flags)).toThrow(message);
});
