/** How much of each quota was used, as rows. Only the present time spans are kept. */
import type { LimitedUse, QuotaRows, QuotaUse } from "../quotas.ts";
import type { Connections } from "./connections.ts";
import { jsonOf, type Querying } from "./querying.ts";

export class PostgresQuotas implements QuotaRows {
  readonly #connections: Connections;

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  async take<Use extends LimitedUse>(uses: readonly Use[]): Promise<Use | undefined> {
    try {
      await this.#connections.transaction(async (querying) => {
        const before = await counted(querying, uses);
        const full = uses.find((use) => before.get(keyOf(use))! >= use.limit);
        // Takes everything back.
        if (full) throw new UsedUp(full);
      });
      return undefined;
    } catch (error) {
      if (error instanceof UsedUp) return error.use as Use;
      throw error;
    }
  }

  async add(uses: readonly QuotaUse[]): Promise<void> {
    if (uses.length > 0) await this.#connections.transaction((querying) => counted(querying, uses));
  }
}

class UsedUp extends Error {
  readonly use: LimitedUse;

  constructor(use: LimitedUse) {
    super("the quota is used up");
    this.use = use;
  }
}

function keyOf({ key, from }: Pick<QuotaUse, "key" | "from">): string {
  return `${from} ${key}`;
}

interface Counted {
  key: string;
  fromAt: number;
  before: number;
  isNew: boolean;
}

/**
 * Counts the uses. Returns what was used before, by `keyOf`. Others who count the same wait for the end of the transaction, so that each sees
 * what the one before it has counted. Rows are locked in one order.
 */
async function counted(querying: Querying, uses: readonly QuotaUse[]): Promise<Map<string, number>> {
  const rows = await querying.all<Counted>(
    `WITH given AS
       (SELECT use->>'key' AS key, (use->>'from')::double precision AS from_at, max((use->>'to')::double precision) AS to_at,
          sum((use->>'amount')::double precision) AS amount
        FROM json_array_elements($uses::text::json) AS uses (use) GROUP BY 1, 2),
     counted AS
       (INSERT INTO claudikins.quota_uses AS stored (key, from_at, to_at, amount)
        SELECT key, from_at, to_at, amount FROM given ORDER BY key COLLATE "C", from_at
        ON CONFLICT (key, from_at) DO UPDATE SET amount = stored.amount + excluded.amount
        RETURNING key, from_at, amount, xmax = 0 AS is_new)
     SELECT key, from_at, counted.amount - given.amount AS before, is_new FROM counted JOIN given USING (key, from_at)`,
    { uses: jsonOf(uses) },
  );
  const first = Math.min(...rows.filter(({ isNew }) => isNew).map(({ fromAt }) => fromAt));
  // A time span has begun.
  if (Number.isFinite(first)) await querying.run("DELETE FROM claudikins.quota_uses WHERE to_at <= $first", { first });
  return new Map(rows.map(({ key, fromAt, before }) => [keyOf({ key, from: fromAt }), before]));
}
