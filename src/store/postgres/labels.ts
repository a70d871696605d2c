/** The labels of what was read, as rows. */
import type { LabelChange, LabelRows, StoredLabel } from "../labels.ts";
import type { Connections } from "./connections.ts";
import { jsonOf, type Querying } from "./querying.ts";

/** A condition for holders whose names begin with `prefix`. */
const below = "holder >= $prefix AND holder < $end";

export class PostgresLabels implements LabelRows {
  readonly #connections: Connections;

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  of({ holders, prefix }: { holders: readonly string[]; prefix?: string }): Promise<StoredLabel[]> {
    const orBelow = prefix === undefined ? "" : `UNION SELECT label, source FROM claudikins.labels WHERE ${below}`;
    return this.#connections.each((querying) =>
      querying.all(
        `SELECT label, source FROM claudikins.labels
         WHERE holder IN (SELECT json_array_elements_text($holders::text::json)) ${orBelow}`,
        { holders: jsonOf(holders), ...rangeOf(prefix) },
      ),
    );
  }

  async hasBelow(prefix: string): Promise<boolean> {
    const statement = `SELECT 1 FROM claudikins.labels WHERE ${below} LIMIT 1`;
    const first = await this.#connections.each((querying) => querying.get(statement, rangeOf(prefix)));
    return first !== undefined;
  }

  async change({ remove = [], prune, add }: LabelChange): Promise<void> {
    await this.#connections.transaction(async (querying) => {
      if (remove.length > 0) {
        await querying.run(
          "DELETE FROM claudikins.labels WHERE holder IN (SELECT json_array_elements_text($holders::text::json))",
          { holders: jsonOf(remove) },
        );
      }
      if (prune) {
        const { prefix, before } = prune;
        await querying.run(`DELETE FROM claudikins.labels WHERE ${below} AND at < $before`, {
          ...rangeOf(prefix),
          before,
        });
      }
      if (add) await insert(querying, add);
    });
  }
}

function rangeOf(prefix: string | undefined): { prefix?: string; end?: string } {
  return prefix === undefined ? {} : { prefix, end: `${prefix}\u{10FFFF}` };
}

/** In one order, so that two processes that write the same labels do not wait for each other. */
async function insert(querying: Querying, { holders, labels, at }: NonNullable<LabelChange["add"]>): Promise<void> {
  await querying.run(
    `INSERT INTO claudikins.labels (holder, label, source, at)
     SELECT DISTINCT holder, label->>'label', label->>'source', $at::double precision
     FROM json_array_elements_text($holders::text::json) AS given (holder), json_array_elements($labels::text::json) AS labels (label)
     ORDER BY 1, 2, 3
     ON CONFLICT (holder, label, source) DO UPDATE SET at = excluded.at`,
    { holders: jsonOf(holders), labels: jsonOf(labels), at },
  );
}
