/** The counts of the ledger, as rows. */
import type { CountRow, CountRows } from "../counts.ts";
import type { Connections } from "./connections.ts";
import { jsonOf, type Querying } from "./querying.ts";

export class PostgresCounts implements CountRows {
  readonly #connections: Connections;

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  async add(row: CountRow, summingUp?: Parameters<CountRows["add"]>[1]): Promise<void> {
    await this.#connections.transaction(async (querying) => {
      const isFull = summingUp !== undefined && (await writes(querying)) >= summingUp.above;
      // Others who add rows wait, so that none is missing in the sums. The lock comes first: two that have added could not both get it.
      if (isFull) await querying.run("LOCK TABLE claudikins.counts IN SHARE ROW EXCLUSIVE MODE");
      await insert(querying, [row]);
      // Another process may have summed up meanwhile.
      if (!isFull || (await writes(querying)) <= summingUp.above) return;
      const sums = summingUp.sumUp(await all(querying));
      await querying.run("DELETE FROM claudikins.counts");
      await insert(querying, sums);
    });
  }

  all(): Promise<CountRow[]> {
    return this.#connections.each(all);
  }

  async removeAll(): Promise<void> {
    await this.#connections.transaction((querying) => querying.run("DELETE FROM claudikins.counts"));
  }
}

/** The number of rows that belong to no sum. */
async function writes(querying: Querying): Promise<number> {
  const count = "SELECT count(*)::int AS count FROM claudikins.counts WHERE period IS NULL";
  return (await querying.get<{ count: number }>(count))?.count ?? 0;
}

function all(querying: Querying): Promise<CountRow[]> {
  return querying.all("SELECT at, period, json FROM claudikins.counts ORDER BY place");
}

async function insert(querying: Querying, rows: readonly CountRow[]): Promise<void> {
  await querying.run(
    `INSERT INTO claudikins.counts (at, period, json)
     SELECT (row->>'at')::double precision, row->>'period', row->>'json'
     FROM json_array_elements($rows::text::json) WITH ORDINALITY AS given (row, number) ORDER BY number`,
    { rows: jsonOf(rows) },
  );
}
