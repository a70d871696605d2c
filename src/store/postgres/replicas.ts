/** The replicas that run now, the key that they share, their sessions, and short texts for some time. */
import { randomBytes } from "node:crypto";
import type {
  AdoptedSession,
  KeptValue,
  Reached,
  Replica,
  ReplicaRows,
  SessionRows,
  SessionTime,
  StoredSession,
  ValueRows,
} from "../replicas.ts";
import type { Connections } from "./connections.ts";
import { isAliveIn, type Owners } from "./owners.ts";

export class PostgresReplicas implements ReplicaRows {
  readonly sessions: PostgresSessions;
  readonly values: PostgresValues;
  readonly #connections: Connections;
  readonly #owners: Owners;

  constructor(connections: Connections, owners: Owners) {
    this.#connections = connections;
    this.#owners = owners;
    this.sessions = new PostgresSessions(connections);
    this.values = new PostgresValues(connections);
  }

  join(url: string): Promise<Replica> {
    return this.#owners.join(url);
  }

  async find(replica: string): Promise<Reached | undefined> {
    const statement = `SELECT replica, url FROM claudikins.owners WHERE name = $replica AND url IS NOT NULL AND ${isAliveIn("$replica")}`;
    return this.#connections.each((querying) => querying.get<Reached>(statement, { replica }));
  }

  async runnerOf(execution: string): Promise<Reached | undefined> {
    const statement = `SELECT replica, url FROM claudikins.executions JOIN claudikins.owners ON name = owner
       WHERE id = $execution AND state = 'open' AND url IS NOT NULL AND ${isAliveIn("owner")}`;
    return this.#connections.each((querying) => querying.get<Reached>(statement, { execution }));
  }

  async key(): Promise<Uint8Array<ArrayBuffer>> {
    const key = randomBytes(32).toString("hex");
    const row = await this.#connections.each(async (querying) => {
      await querying.run("INSERT INTO claudikins.shared_key (key) VALUES ($key) ON CONFLICT DO NOTHING", { key });
      return querying.get<{ key: string }>("SELECT key FROM claudikins.shared_key");
    });
    return Uint8Array.fromHex(row!.key);
  }
}

const columns = "kind, id, value, ends_at";

/** Short texts for some time, as rows. */
class PostgresValues implements ValueRows {
  readonly #connections: Connections;

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  async add(value: KeptValue, max: number): Promise<void> {
    const { kind } = value;
    await this.#connections.each(async (querying) => {
      await querying.run(
        `INSERT INTO claudikins.kept_values (${columns}) VALUES ($kind, $id, $value, $endsAt) ON CONFLICT (kind, id) DO NOTHING`,
        { kind, id: value.id, value: value.value, endsAt: value.endsAt },
      );
      await querying.run(
        `DELETE FROM claudikins.kept_values WHERE ends_at <= $now OR (kind = $kind AND place <=
           (SELECT place FROM claudikins.kept_values WHERE kind = $kind ORDER BY place DESC OFFSET $max LIMIT 1))`,
        { kind, max, now: Date.now() },
      );
    });
  }

  async get(kind: string, id: string): Promise<KeptValue | undefined> {
    const statement = `SELECT ${columns} FROM claudikins.kept_values WHERE kind = $kind AND id = $id AND ends_at > $now`;
    return this.#connections.each((querying) => querying.get<KeptValue>(statement, { kind, id, now: Date.now() }));
  }

  async missing(ids: readonly string[]): Promise<string[]> {
    const statement = "SELECT id FROM claudikins.kept_values WHERE id IN (SELECT value FROM texts($ids))";
    const values = { ids };
    const rows = await this.#connections.each((querying) => querying.all<{ id: string }>(statement, values));
    const kept = new Set(rows.map(({ id }) => id));
    return ids.filter((id) => !kept.has(id));
  }

  async take(kind: string, id: string): Promise<KeptValue | undefined> {
    const statement = `DELETE FROM claudikins.kept_values WHERE kind = $kind AND id = $id RETURNING ${columns}`;
    const found = await this.#connections.transaction((querying) => querying.get<KeptValue>(statement, { kind, id }));
    return found && found.endsAt > Date.now() ? found : undefined;
  }
}

/** The end of a session after a time in milliseconds. */
const after = (ms: string) => `clock_timestamp() + ${ms}::double precision * interval '1 millisecond'`;

const isOpen = "expires_at > clock_timestamp()";

/** The sessions of all replicas, as rows. Only the clock of the database counts. */
class PostgresSessions implements SessionRows {
  readonly #connections: Connections;

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  async begin(session: StoredSession, replica: string, ms: number): Promise<void> {
    await this.#connections.each((querying) =>
      querying.run(
        `INSERT INTO claudikins.sessions (id, replica, place, owner, client, parameters, kept, expires_at)
         VALUES ($id, $replica, $place, $owner, $client, $parameters, $kept, ${after("$ms")}) ON CONFLICT (id) DO NOTHING`,
        { ...session, replica, ms },
      ),
    );
  }

  async find(id: string): Promise<Reached | undefined> {
    return this.#connections.each((querying) =>
      querying.get<Reached>(
        `SELECT sessions.replica, url FROM claudikins.sessions JOIN claudikins.owners ON name = sessions.replica
         WHERE id = $id AND sessions.${isOpen} AND url IS NOT NULL AND ${isAliveIn("sessions.replica")}`,
        { id },
      ),
    );
  }

  async outlasts(id: string, ms: number): Promise<boolean> {
    const row = await this.#connections.each((querying) =>
      querying.get(
        `SELECT 1 FROM claudikins.sessions WHERE id = $id AND expires_at > ${after("$ms")} AND ${isAliveIn("sessions.replica")}`,
        { id, ms },
      ),
    );
    return row !== undefined;
  }

  /** Of several replicas, one changes the row. The others wait for it, and find that its replica is alive. */
  async adopt(
    session: Pick<StoredSession, "id" | "place" | "owner">,
    to: string,
    ms: number,
  ): Promise<AdoptedSession | undefined> {
    const { id, place, owner } = session;
    return this.#connections.transaction((querying) =>
      querying.get<AdoptedSession>(
        `UPDATE claudikins.sessions SET replica = $to, adoptions = adoptions + 1, expires_at = ${after("$ms")}
         WHERE id = $id AND place = $place AND owner IS NOT DISTINCT FROM $owner::text AND ${isOpen} AND NOT ${isAliveIn("sessions.replica")}
         RETURNING id, place, owner, client, parameters, kept, adoptions`,
        { id, place, owner, to, ms },
      ),
    );
  }

  async keep(id: string, replica: string, kept: string): Promise<void> {
    const statement = "UPDATE claudikins.sessions SET kept = $kept WHERE id = $id AND replica = $replica";
    await this.#connections.each((querying) => querying.run(statement, { id, replica, kept }));
  }

  async renew(times: readonly SessionTime[], replica: string): Promise<Set<string>> {
    const rows = await this.#connections.each(async (querying) => {
      await querying.run("DELETE FROM claudikins.sessions WHERE expires_at < clock_timestamp() - interval '1 minute'");
      return querying.all<{ id: string }>(
        `UPDATE claudikins.sessions SET expires_at = ${after("(given.value->>'ms')")}
         FROM each($times)
         WHERE id = given.value->>'id' AND replica = $replica RETURNING id`,
        { replica, times: times.map(({ id, ms }) => ({ id, ms })) },
      );
    });
    return new Set(rows.map(({ id }) => id));
  }

  async end(id: string, replica: string): Promise<void> {
    const statement = "DELETE FROM claudikins.sessions WHERE id = $id AND replica = $replica";
    await this.#connections.each((querying) => querying.run(statement, { id, replica }));
  }

  async forget(config: string, owner: string): Promise<void> {
    const statement = "DELETE FROM claudikins.sessions WHERE owner = $owner AND place::json->>0 = $config";
    await this.#connections.each((querying) => querying.run(statement, { config, owner }));
  }
}
