/** How much of each quota was used, by all processes together. */
import { hourMs } from "../base/units.ts";
import { all, type Database, run, type Work } from "./work.ts";

/** How long the uses of a time span are kept after its end: the clock of another replica may still be within it. */
const keptSpanMs = hourMs;

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
  /** Counts all of them, whatever was used before. Time spans that have ended long before a new one begins are forgotten. */
  add(uses: readonly QuotaUse[]): Promise<void>;
  /** How much of each was used in its time span, in their order. Nothing is counted. */
  read(uses: readonly Pick<QuotaUse, "key" | "from">[]): Promise<number[]>;
}

export function quotaRows(database: Database): QuotaRows {
  return {
    async take(uses) {
      try {
        await database.write(function* () {
          const before = yield* counted(uses);
          const full = uses.findIndex((use) => before.get(keyOf(use))! >= use.limit);
          // Takes everything back.
          if (full !== -1) throw new UsedUp(full);
        });
        return undefined;
      } catch (error) {
        if (error instanceof UsedUp) return uses[error.use];
        throw error;
      }
    },
    async add(uses) {
      if (uses.length > 0) await database.write(() => counted(uses));
    },
    async read(uses) {
      const statement =
        "SELECT key, from_at, amount FROM claudikins.quota_uses WHERE key IN (SELECT value FROM texts($keys))";
      const keys = [...new Set(uses.map(({ key }) => key))];
      const rows = await database.read(() => all<{ key: string; fromAt: number; amount: number }>(statement, { keys }));
      const used = new Map(rows.map(({ key, fromAt, amount }) => [keyOf({ key, from: fromAt }), amount]));
      return uses.map((use) => used.get(keyOf(use)) ?? 0);
    },
  };
}

class UsedUp extends Error {
  /** The place of the use. */
  readonly use: number;

  constructor(use: number) {
    super("the quota is used up");
    this.use = use;
  }
}

function keyOf({ key, from }: Pick<QuotaUse, "key" | "from">): string {
  return `${from} ${key}`;
}

/**
 * Counts the uses. Returns what was used before, by `keyOf`. Others who count the same wait for the end of the transaction, so that each sees
 * what the one before it has counted. Rows are locked in one order.
 */
function* counted(uses: readonly QuotaUse[]): Work<Map<string, number>> {
  const rows = yield* all<{ key: string; fromAt: number; amount: number }>(
    `INSERT INTO claudikins.quota_uses AS stored (key, from_at, to_at, amount)
     SELECT value->>'key', CAST(value->>'from' AS DOUBLE PRECISION), max(CAST(value->>'to' AS DOUBLE PRECISION)),
       sum(CAST(value->>'amount' AS DOUBLE PRECISION))
     FROM each($uses) WHERE TRUE GROUP BY 1, 2 ORDER BY 1, 2
     ON CONFLICT (key, from_at) DO UPDATE SET amount = stored.amount + excluded.amount
     RETURNING key, from_at, amount`,
    { uses },
  );
  const before = new Map(rows.map(({ key, fromAt, amount }) => [keyOf({ key, from: fromAt }), amount]));
  for (const use of uses) before.set(keyOf(use), before.get(keyOf(use))! - use.amount);
  const isFirst = (use: QuotaUse) => use.amount > 0 && before.get(keyOf(use)) === 0;
  const begun = Math.min(...uses.filter(isFirst).map(({ from }) => from));
  // A time span has begun.
  const endedBefore = begun - keptSpanMs;
  if (Number.isFinite(begun))
    yield* run("DELETE FROM claudikins.quota_uses WHERE to_at <= $endedBefore", { endedBefore });
  return before;
}
