/** Quotas: what all programs together may use of a config, a door or a server. The limits of one program are in `limits`. */

/** Undefined keys are unlimited. */
export interface Quotas {
  /** Calls of tools in one minute. More are refused. */
  callsPerMinute?: number | undefined;
  /** Concurrent calls of tools. More wait. */
  callsAtOnce?: number | undefined;
  /** Concurrent executions. More wait. */
  executionsAtOnce?: number | undefined;
  /** Megabytes of arguments and results on one day, in UTC. Calls after it are refused. */
  mbPerDay?: number | undefined;
}

/** Quotas, and whose they are. */
export interface QuotaOwner {
  /** For errors: `the door "qa"`. */
  name: string;
  /** Different for each owner on this machine. Its uses are counted under it. */
  key: string;
  quotas: Quotas;
}
