/** The records of executions that have ended: a summary for lists, and the rest. */

export interface StoredRecord {
  /** Ids sort by time. */
  id: string;
  /** Milliseconds since 1970. */
  at: number;
  /** JSON. */
  summary: string;
  /** JSON. */
  rest: string;
}

/** Limits of what is kept. Each write removes the rest. */
export interface Keeping {
  count: number;
  ageMs: number;
  /** Bytes of all records as UTF-8. The newest record is always kept. */
  bytes: number;
}

export interface RecordRows {
  /**
   * Adds records, and then removes the oldest until the rest is within the limits. A record that was written before stays as it is. `now` is
   * in milliseconds since 1970.
   */
  add(records: readonly StoredRecord[], kept: Keeping, now: number): Promise<void>;
  /** The ids and summaries, newest first. */
  summaries(): Promise<Pick<StoredRecord, "id" | "summary">[]>;
  get(id: string): Promise<StoredRecord | undefined>;
  remove(ids: readonly string[]): Promise<void>;
}
