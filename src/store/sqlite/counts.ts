/** The counts of the ledger, as rows: one for each write, and sums of older ones by day, month or year. */
import type { Database } from "bun:sqlite";
import type { CountRow } from "../counts.ts";

export class CountTable {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  add({ at, period, json }: CountRow): void {
    this.#database
      .query("INSERT INTO counts (at, period, json) VALUES ($at, $period, $json)")
      .run({ at, period, json });
  }

  /** The number of rows that belong to no sum. */
  get writes(): number {
    const all = "SELECT count(*) AS count FROM counts WHERE period IS NULL";
    return this.#database.query<{ count: number }, []>(all).get()!.count;
  }

  all(): CountRow[] {
    return this.#database.query<CountRow, []>("SELECT at, period, json FROM counts ORDER BY id").all();
  }

  removeAll(): void {
    this.#database.run("DELETE FROM counts");
  }
}
