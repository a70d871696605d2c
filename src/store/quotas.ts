/** How much of each quota was used, by all processes together. */

export interface QuotaUse {
  /** The owner of the quota and what it counts. */
  key: string;
  /** The time span that it counts in: its beginning and its end, in milliseconds since 1970. */
  from: number;
  to: number;
  amount: number;
}

export interface LimitedUse extends QuotaUse {
  /** The quota is used up if as much as this was used in the time span, or more. */
  limit: number;
}

export interface QuotaRows {
  /**
   * Returns the first use whose quota is used up; then nothing is counted. Otherwise counts all of them. A use with the amount 0 is only
   * looked at.
   */
  take<Use extends LimitedUse>(uses: readonly Use[]): Promise<Use | undefined>;
  /** Counts all of them, whatever was used before. Time spans that have ended when a new one begins are forgotten. */
  add(uses: readonly QuotaUse[]): Promise<void>;
}
