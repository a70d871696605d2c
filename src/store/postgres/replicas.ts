/** The replicas that run now, the key that they share, their sessions, and short texts for some time. */
import { randomBytes } from "node:crypto";
import type {
  AdoptedSession,
  KeptValue,
  Reached,
  ReplicaRows,
  SessionRows,
  TeamState,
  ValueRows,
} from "../replicas.ts";
import { all, first, run } from "../work.ts";
import type { Connections } from "./connections.ts";
import { isAliveIn, leaseHolds, type Owners } from "./owners.ts";
import { storedSize } from "./room.ts";

export function replicaRows(connections: Connections, owners: Owners): ReplicaRows {
  return {
    sessions: sessionRows(connections),
    values: valueRows(connections),
    join: (url) => owners.join(url),
    find(replica) {
      const statement = `SELECT replica, url FROM claudikins.owners WHERE name = $replica AND url IS NOT NULL AND ${isAliveIn("$replica")}`;
      return connections.read(() => first<Reached>(statement, { replica }));
    },
    runnerOf(execution) {
      const statement = `SELECT replica, url FROM claudikins.executions JOIN claudikins.owners ON name = owner
         WHERE id = $execution AND state = 'open' AND url IS NOT NULL AND ${isAliveIn("owner")}`;
      return connections.read(() => first<Reached>(statement, { execution }));
    },
    async state() {
      const state = await connections.read(() => first<TeamState>(teamState));
      return state!;
    },
    async key() {
      const key = randomBytes(32).toString("hex");
      const row = await connections.read(function* () {
        yield* run("INSERT INTO claudikins.shared_key (key) VALUES ($key) ON CONFLICT DO NOTHING", { key });
        return yield* first<{ key: string }>("SELECT key FROM claudikins.shared_key");
      });
      return Uint8Array.fromHex(row!.key);
    },
  };
}

const teamState = `SELECT
  (SELECT count(DISTINCT replica) FROM claudikins.owners WHERE url IS NOT NULL AND ${leaseHolds})::int AS replicas,
  (SELECT count(*) FROM claudikins.executions WHERE state = 'open' AND program IS NOT NULL)::int AS programs,
  (${storedSize}) AS bytes`;

const columns = "kind, id, value, ends_at";

/** Short texts for some time, as rows. */
function valueRows(connections: Connections): ValueRows {
  return {
    async add(value, max) {
      const { kind } = value;
      await connections.read(function* () {
        yield* run(
          `INSERT INTO claudikins.kept_values (${columns}) VALUES ($kind, $id, $value, $endsAt) ON CONFLICT (kind, id) DO NOTHING`,
          { kind, id: value.id, value: value.value, endsAt: value.endsAt },
        );
        yield* run(
          `DELETE FROM claudikins.kept_values WHERE ends_at <= $now OR (kind = $kind AND place <=
             (SELECT place FROM claudikins.kept_values WHERE kind = $kind ORDER BY place DESC OFFSET $max LIMIT 1))`,
          { kind, max, now: Date.now() },
        );
      });
    },

    get(kind, id) {
      const statement = `SELECT ${columns} FROM claudikins.kept_values WHERE kind = $kind AND id = $id AND ends_at > $now`;
      return connections.read(() => first<KeptValue>(statement, { kind, id, now: Date.now() }));
    },

    async missing(ids) {
      const statement = "SELECT id FROM claudikins.kept_values WHERE id IN (SELECT value FROM texts($ids))";
      const rows = await connections.read(() => all<{ id: string }>(statement, { ids }));
      const kept = new Set(rows.map(({ id }) => id));
      return ids.filter((id) => !kept.has(id));
    },

    async take(kind, id) {
      const statement = `DELETE FROM claudikins.kept_values WHERE kind = $kind AND id = $id RETURNING ${columns}`;
      const found = await connections.write(() => first<KeptValue>(statement, { kind, id }));
      return found && found.endsAt > Date.now() ? found : undefined;
    },
  };
}

/** The end of a session after a time in milliseconds. */
const after = (ms: string) => `clock_timestamp() + ${ms}::double precision * interval '1 millisecond'`;

/** The replica of a session that no replica has. No replica is ever called that. */
const nobody = "";

const isOpen = "expires_at > clock_timestamp()";

/** The sessions of all replicas, as rows. Only the clock of the database counts. */
function sessionRows(connections: Connections): SessionRows {
  return {
    async begin(session, replica, ms) {
      await connections.read(() =>
        run(
          `INSERT INTO claudikins.sessions (id, replica, place, owner, client, parameters, kept, expires_at)
           VALUES ($id, $replica, $place, $owner, $client, $parameters, $kept, ${after("$ms")}) ON CONFLICT (id) DO NOTHING`,
          { ...session, replica, ms },
        ),
      );
    },

    find(id) {
      return connections.read(() =>
        first<Reached>(
          `SELECT sessions.replica, url FROM claudikins.sessions JOIN claudikins.owners ON name = sessions.replica
           WHERE id = $id AND sessions.${isOpen} AND url IS NOT NULL AND ${isAliveIn("sessions.replica")}`,
          { id },
        ),
      );
    },

    async outlasts(id, ms) {
      const row = await connections.read(() =>
        first(
          `SELECT 1 FROM claudikins.sessions WHERE id = $id AND expires_at > ${after("$ms")} AND ${isAliveIn("sessions.replica")}`,
          { id, ms },
        ),
      );
      return row !== undefined;
    },

    /** Of several replicas, one changes the row. The others wait for it, and find that its replica is alive. */
    adopt({ id, place, owner }, to, ms) {
      return connections.write(() =>
        first<AdoptedSession>(
          `UPDATE claudikins.sessions SET replica = $to, adoptions = adoptions + 1, expires_at = ${after("$ms")}
           WHERE id = $id AND place = $place AND owner IS NOT DISTINCT FROM $owner::text AND ${isOpen} AND NOT ${isAliveIn("sessions.replica")}
           RETURNING id, place, owner, client, parameters, kept, adoptions`,
          { id, place, owner, to, ms },
        ),
      );
    },

    async keep(id, replica, kept) {
      const statement = "UPDATE claudikins.sessions SET kept = $kept WHERE id = $id AND replica = $replica";
      await connections.read(() => run(statement, { id, replica, kept }));
    },

    async renew(times, replica) {
      const rows = await connections.read(function* () {
        yield* run("DELETE FROM claudikins.sessions WHERE expires_at < clock_timestamp() - interval '1 minute'");
        return yield* all<{ id: string }>(
          `UPDATE claudikins.sessions SET expires_at = ${after("(given.value->>'ms')")}
           FROM each($times)
           WHERE id = given.value->>'id' AND replica = $replica RETURNING id`,
          { replica, times: times.map(({ id, ms }) => ({ id, ms })) },
        );
      });
      return new Set(rows.map(({ id }) => id));
    },

    async leave(ids, replica) {
      const statement = `UPDATE claudikins.sessions SET replica = '${nobody}'
        WHERE replica = $replica AND id IN (SELECT value FROM texts($ids))`;
      await connections.read(() => run(statement, { replica, ids }));
    },

    async end(id, replica) {
      const statement = "DELETE FROM claudikins.sessions WHERE id = $id AND replica = $replica";
      await connections.read(() => run(statement, { id, replica }));
    },

    async forget(config, owner) {
      const statement = "DELETE FROM claudikins.sessions WHERE owner = $owner AND place::json->>0 = $config";
      await connections.read(() => run(statement, { config, owner }));
    },
  };
}
