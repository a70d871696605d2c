/** The default limits with less memory, and with the changes of a test. */
import { defaultLimits } from "../../src/config/defaults.ts";
import { limitsFrom } from "../../src/programs/execute.ts";
import type { Limits } from "../../src/sandbox/contract.ts";

export const someLimits = (given: Partial<Limits> = {}): Limits => ({
  ...limitsFrom({ ...defaultLimits, memoryMb: 64 }),
  ...given,
});
