/** How long a server that failed is left alone: not at all the first time, then longer and longer. */

export interface BackoffTimes {
  /** After the second failure in a row; doubled with each one more. */
  firstMs: number;
  maxMs: number;
  /** With so many failures in a row the circuit is open: more tries are unlikely to help soon. */
  circuitAfter: number;
  /** After the failure that opens the circuit; doubled with each one more. */
  circuitMs: number;
}

export const backoffTimes: BackoffTimes = { firstMs: 250, maxMs: 60_000, circuitAfter: 5, circuitMs: 15_000 };

/** `random` is from 0 to 1: servers that failed together are not all tried again in the same moment. */
export function backoffMs(failures: number, times: BackoffTimes = backoffTimes, random = Math.random()): number {
  // People mend what the first failure named, and try at once.
  if (failures < 2) return 0;
  const { firstMs, maxMs, circuitAfter, circuitMs } = times;
  const isOpen = failures >= circuitAfter;
  const wholeMs = isOpen ? circuitMs * 2 ** (failures - circuitAfter) : firstMs * 2 ** (failures - 2);
  return Math.round(Math.min(wholeMs * (0.8 + 0.4 * random), maxMs));
}
