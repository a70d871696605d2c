/** The counts of the ledger, as rows: one for each write, and sums of older ones by day, month or year. */
import type { Database } from "bun:sqlite";
import type { CountRow, CountRows } from "../counts.ts";
import type { Access } from "./access.ts";

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

export function countRows(access: Access): CountRows {
  const all = () => access.read([], (database) => new CountTable(database).all());
  return {
    all,
    add: (row, summingUp) =>
      access.write((database) => {
        const table = new CountTable(database);
        table.add(row);
        if (!summingUp || table.writes <= summingUp.above) return;
        const rows = summingUp.sumUp(table.all());
        table.removeAll();
        for (const each of rows) table.add(each);
      }),
    async removeAll() {
      if ((await all()).length > 0) await access.write((database) => new CountTable(database).removeAll());
    },
  };
}
