/** The schemas of `limits` and `quotas`, in the config, in a door and in the entry of a server. */
import { z } from "zod";
import { defaultLimits } from "./defaults.ts";
import { maxTimeoutMs } from "./limits.ts";

export const megabytes = z.number().min(0.001).max(512);

export const timeoutMs = z.int().min(1).max(maxTimeoutMs);

const limitFields = {
  /** Wall-clock time of one execution. */
  timeoutMs,
  /** CPU time of the program, without the time that it waits. */
  cpuMs: timeoutMs,
  /** Memory of one execution, including the engine. */
  memoryMb: z.int().min(16).max(2048),
  /** Stack for nested calls. */
  stackKb: z.int().min(32).max(256),
  /** Maximum number of tool calls in one execution. */
  calls: z.int().min(1).max(1_000_000),
  /** Maximum concurrent tool calls of one execution. Further calls wait. */
  callsInFlight: z.int().min(1).max(1_000),
  /** Size of the arguments of one call. */
  argumentMb: megabytes,
  /** Size of the result of one call. */
  resultMb: megabytes,
  /** Size of the returned value and everything that is displayed. */
  valueMb: megabytes,
  /** Size of the logs. If there is more, the beginning and the end are kept. */
  logMb: megabytes,
  /** Characters of one answer that the agent is shown. A longer answer is written to the workspace. */
  outputChars: z.int().min(1_000).max(1_000_000),
};

export const limitsSchema = z.object({
  timeoutMs: limitFields.timeoutMs.default(defaultLimits.timeoutMs),
  cpuMs: limitFields.cpuMs.default(defaultLimits.cpuMs),
  memoryMb: limitFields.memoryMb.default(defaultLimits.memoryMb),
  stackKb: limitFields.stackKb.default(defaultLimits.stackKb),
  calls: limitFields.calls.default(defaultLimits.calls),
  callsInFlight: limitFields.callsInFlight.default(defaultLimits.callsInFlight),
  argumentMb: limitFields.argumentMb.default(defaultLimits.argumentMb),
  resultMb: limitFields.resultMb.default(defaultLimits.resultMb),
  valueMb: limitFields.valueMb.default(defaultLimits.valueMb),
  logMb: limitFields.logMb.default(defaultLimits.logMb),
  outputChars: limitFields.outputChars.default(defaultLimits.outputChars),
});

/** Limits that replace the config's. */
export const someLimitsSchema = z.object(limitFields).partial();

const count = (max: number) => z.int().min(1).max(max).optional();

const callQuotas = {
  /** Calls of tools in one minute. More are refused. */
  callsPerMinute: count(1_000_000),
  /** Megabytes of arguments and results on one day, in UTC. Calls after it are refused. */
  mbPerDay: z.number().min(0.001).max(1_000_000).optional(),
};

/** A server has `maxCallsInFlight` for its concurrent calls. */
export const serverQuotasSchema = z.strictObject(callQuotas).optional();

const allQuotas = {
  ...callQuotas,
  /** Concurrent calls of tools. More wait. */
  callsAtOnce: count(1_000),
  /** Concurrent executions. More wait. */
  executionsAtOnce: count(1_000),
};

export const quotasSchema = z.strictObject(allQuotas).optional();

export const quotaKeys = Object.keys(allQuotas);
