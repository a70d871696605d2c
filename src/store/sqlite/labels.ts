/** The labels of what was read, as rows: for stored executions, for files, and for the clients of `serve --http`. */
import type { Database } from "bun:sqlite";
import type { LabelRows, StoredLabel } from "../labels.ts";
import type { Access } from "./access.ts";

class LabelTable {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** `at` is in milliseconds since 1970. */
  add(holder: string, labels: Iterable<StoredLabel>, at: number): void {
    const query = this.#database.query(
      "INSERT INTO labels (holder, label, source, at) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET at = excluded.at",
    );
    for (const { label, source } of labels) query.run(holder, label, source, at);
  }

  /** The labels of a holder. */
  of(holder: string): StoredLabel[] {
    return this.#database.query<StoredLabel, [string]>("SELECT label, source FROM labels WHERE holder = ?").all(holder);
  }

  /** The labels of the holders whose names begin like this. */
  below(prefix: string): StoredLabel[] {
    return this.#database
      .query<StoredLabel, [string, string]>(
        "SELECT DISTINCT label, source FROM labels WHERE holder >= ? AND holder < ? || x'f48fbfbf'",
      )
      .all(prefix, prefix);
  }

  hasBelow(prefix: string): boolean {
    const first = "SELECT 1 FROM labels WHERE holder >= ? AND holder < ? || x'f48fbfbf' LIMIT 1";
    return this.#database.query<object, [string, string]>(first).get(prefix, prefix) !== null;
  }

  remove(holder: string): void {
    this.#database.query("DELETE FROM labels WHERE holder = ?").run(holder);
  }

  /** Removes the labels of the holders whose names begin like this, and that were last written before. */
  prune(prefix: string, before: number): void {
    this.#database
      .query("DELETE FROM labels WHERE substr(holder, 1, ?) = ? AND at < ?")
      .run(prefix.length, prefix, before);
  }
}

export function labelRows(access: Access): LabelRows {
  return {
    of: ({ holders, prefix }) =>
      access.read([], (database) => {
        const table = new LabelTable(database);
        const found = holders.flatMap((holder) => table.of(holder));
        return prefix === undefined ? found : [...found, ...table.below(prefix)];
      }),
    hasBelow: (prefix) => access.read(false, (database) => new LabelTable(database).hasBelow(prefix)),
    change: ({ remove = [], prune, add }) =>
      access.write((database) => {
        const table = new LabelTable(database);
        for (const holder of remove) table.remove(holder);
        if (prune) table.prune(prune.prefix, prune.before);
        if (add) for (const holder of add.holders) table.add(holder, add.labels, add.at);
      }),
  };
}
