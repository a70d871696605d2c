/** How much of each quota was used, by all processes together. Only the present time spans are kept. */
import type { Database } from "bun:sqlite";
import type { QuotaRows, QuotaUse } from "../quotas.ts";
import type { Access } from "./access.ts";

class QuotaTable {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  used({ key, from }: Pick<QuotaUse, "key" | "from">): number {
    const row = this.#database
      .query<{ amount: number }, [string, number]>("SELECT amount FROM quotaUses WHERE key = ? AND fromAt = ?")
      .get(key, from);
    return row?.amount ?? 0;
  }

  add({ key, from, to, amount }: QuotaUse): void {
    const { changes } = this.#database.run("UPDATE quotaUses SET amount = amount + ? WHERE key = ? AND fromAt = ?", [
      amount,
      key,
      from,
    ]);
    if (changes > 0) return;
    this.#database.run("DELETE FROM quotaUses WHERE toAt <= ?", [from]);
    this.#database.run("INSERT INTO quotaUses (key, fromAt, toAt, amount) VALUES (?, ?, ?, ?)", [
      key,
      from,
      to,
      amount,
    ]);
  }
}

export function quotaRows(access: Access): QuotaRows {
  return {
    take: (uses) =>
      access.write((database) => {
        const table = new QuotaTable(database);
        const full = uses.find((use) => table.used(use) >= use.limit);
        if (!full) for (const use of uses) if (use.amount > 0) table.add(use);
        return full;
      }),
    add: (uses) =>
      access.write((database) => {
        const table = new QuotaTable(database);
        for (const use of uses) table.add(use);
      }),
  };
}
