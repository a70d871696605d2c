/** The call log in parts, one for each day in UTC: writers take no lock of the whole log, and old days are removed at once. */
import { dayMs } from "../../base/units.ts";
import { callColumnOf, callColumns, callKeys, type StoredCall } from "../call-log.ts";
import { run, type Work } from "../work.ts";
import type { Connections } from "./connections.ts";
import type { Querying } from "./querying.ts";
import { lockFor } from "./schema.ts";

/** Time to wait for readers of the log before a day is removed. Writers wait behind it. */
const removalWaitMs = 500;

/** The name of the lock for the parts. */
const partsLock = "claudikins call log";

const partName = /^call_log_(\d{4})(\d\d)(\d\d)$/;

const insertion = `INSERT INTO claudikins.call_log (${callColumns})
  SELECT ${callColumns} FROM json_populate_recordset(NULL::claudikins.call_log, $rows::text::json)`;

export class CallLogDays {
  readonly #connections: Connections;
  /** The days whose parts are there. */
  readonly #known = new Set<number>();

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  /** Makes the parts for calls of these times, and for the day after. */
  async prepare(times: readonly number[]): Promise<void> {
    const days = new Set(times.map(dayOf));
    if ([...days].every((day) => this.#known.has(day))) return;
    const wanted = [...new Set([...days].flatMap((day) => [day, day + dayMs]))].sort((a, b) => a - b);
    await this.#connections.transaction(async (querying) => {
      await lockFor(partsLock, querying);
      const found = await partsIn(querying);
      for (const day of wanted) if (!found.includes(day)) await makePart(day, querying);
    });
    for (const day of days) this.#known.add(day);
  }

  /** All of them in one statement, which reads their JSON once. */
  *insert(calls: readonly StoredCall[]): Work<void> {
    const rows = calls.map((call) => Object.fromEntries(callKeys.map((key) => [callColumnOf(key), call[key]])));
    yield* run(insertion, { rows });
  }

  /** Removes the days whose last moment is before the time, unless another config has calls in them. Its own calls are removed then. */
  async tidy(config: string | null, before: number): Promise<void> {
    const found = await this.#connections.each(partsIn);
    for (const day of found.filter((each) => each + dayMs <= before)) await this.#remove(day, config);
  }

  #remove(day: number, config: string | null): Promise<void> {
    return this.#connections.transaction(async (querying) => {
      const part = partOf(day);
      await lockFor(partsLock, querying);
      if (!(await partsIn(querying)).includes(day)) return;
      const others = `SELECT 1 AS one FROM ${part} WHERE config IS DISTINCT FROM $config::text LIMIT 1`;
      if (await querying.get(others, { config })) {
        await querying.run(`DELETE FROM ${part} WHERE config IS NOT DISTINCT FROM $config::text`, { config });
        return;
      }
      this.#known.delete(day);
      // A query that reads the day for longer delays the removal until the next turn.
      await querying.run(`SELECT set_config('lock_timeout', '${removalWaitMs}', true)`);
      await querying.script(`DROP TABLE ${part}`);
    });
  }
}

/** The beginning of the day of a time, in UTC. */
function dayOf(at: number): number {
  return Math.floor(at / dayMs) * dayMs;
}

function partOf(day: number): string {
  return `claudikins.call_log_${new Date(day).toISOString().slice(0, 10).replaceAll("-", "")}`;
}

/** The days that have a part. */
async function partsIn(querying: Querying): Promise<number[]> {
  const rows = await querying.all<{ name: string }>(
    `SELECT part.relname AS name FROM pg_inherits JOIN pg_class AS part ON part.oid = inhrelid
     WHERE inhparent = 'claudikins.call_log'::regclass`,
  );
  return rows.flatMap(({ name }) => {
    const [, year, month, date] = partName.exec(name) ?? [];
    return year === undefined ? [] : [Date.UTC(Number(year), Number(month) - 1, Number(date))];
  });
}

/** A part that is made alone and then attached does not keep others from writing, as one would that is made within the log. */
async function makePart(day: number, querying: Querying): Promise<void> {
  const part = partOf(day);
  await querying.script(
    `CREATE TABLE ${part} (LIKE claudikins.call_log INCLUDING DEFAULTS);
     ALTER TABLE claudikins.call_log ATTACH PARTITION ${part} FOR VALUES FROM (${day}) TO (${day + dayMs})`,
  );
}
