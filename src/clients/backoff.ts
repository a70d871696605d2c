/** How long a failed server is not tried again: not at all after the first failure, then longer and longer. */

export interface BackoffTimes {
  /** Delay after the second failure in a row. It doubles with each further one. */
  firstMs: number;
  maxMs: number;
  /** From this number of failures in a row, the circuit is open: more tries are unlikely to help soon. */
  circuitAfter: number;
  /** Delay after the failure that opens the circuit. It doubles with each further one. */
  circuitMs: number;
}

export const backoffTimes: BackoffTimes = { firstMs: 250, maxMs: 60_000, circuitAfter: 5, circuitMs: 15_000 };

/** `random` is between 0 and 1, so that servers that failed together are not all tried at the same moment. */
export function backoffMs(failures: number, times: BackoffTimes = backoffTimes, random = Math.random()): number {
  // People repair what the first failure named, and try again at once.
  if (failures < 2) return 0;
  const { firstMs, maxMs, circuitAfter, circuitMs } = times;
  const isOpen = failures >= circuitAfter;
  const wholeMs = isOpen ? circuitMs * 2 ** (failures - circuitAfter) : firstMs * 2 ** (failures - 2);
  return Math.round(Math.min(wholeMs * (0.8 + 0.4 * random), maxMs));
}
