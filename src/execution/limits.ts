/** The limits of the config, in the sandbox's units. */
import type { Limits as ConfiguredLimits } from "../config/schema.ts";
import type { Limits } from "../sandbox/contract.ts";

const megabyte = 1_048_576;

export function limitsFrom(configured: ConfiguredLimits): Limits {
  const { timeoutMs, cpuMs, memoryMb, stackKb, calls, callsInFlight } = configured;
  const bytes = (mb: number) => Math.round(mb * megabyte);
  return {
    timeoutMs,
    cpuMs,
    memoryBytes: bytes(memoryMb),
    stackBytes: stackKb * 1_024,
    calls,
    callsInFlight,
    argumentBytes: bytes(configured.argumentMb),
    resultBytes: bytes(configured.resultMb),
    valueBytes: bytes(configured.valueMb),
    logBytes: bytes(configured.logMb),
  };
}
