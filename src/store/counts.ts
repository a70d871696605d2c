/** The counts of the ledger: one row for each write, and sums of older ones by day, month or year. */

export interface CountRow {
  /** Seconds since 1970, of a write. */
  at: number | null;
  /** `2026-11-21`, `2026-08` or `2024`, of a sum. */
  period: string | null;
  /** JSON. */
  json: string;
}

interface SummingUp {
  /** Number of writes. If there are more, everything is summed up. */
  above: number;
  /** Returns the rows that replace all rows. It is pure. */
  sumUp: (rows: CountRow[]) => CountRow[];
}

export interface CountRows {
  /** Adds a row, and sums up all rows in the same transaction if there are many writes. */
  add(row: CountRow, summingUp?: SummingUp): Promise<void>;
  /** In the order in which they were added. */
  all(): Promise<CountRow[]>;
  /** Creates nothing only to be empty. */
  removeAll(): Promise<void>;
}
