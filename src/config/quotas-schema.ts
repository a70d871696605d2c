/** The schemas of `quotas`, in the config, in a door and in the entry of a server. */
import { z } from "zod";

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
