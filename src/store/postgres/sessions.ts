/** The sessions of all replicas, as rows. Only the clock of the database counts. */
import type { AdoptedSession, Reached, SessionRows, SessionTime, StoredSession } from "../replicas.ts";
import type { Connections } from "./connections.ts";
import { isAliveIn } from "./owners.ts";
import { jsonOf } from "./querying.ts";

/** The end of a session after a time in milliseconds. */
const after = (ms: string) => `clock_timestamp() + ${ms}::double precision * interval '1 millisecond'`;

const isOpen = "expires_at > clock_timestamp()";

export class PostgresSessions implements SessionRows {
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
        `UPDATE claudikins.sessions SET expires_at = ${after("(given.time->>'ms')")}
         FROM json_array_elements($times::text::json) AS given (time)
         WHERE id = given.time->>'id' AND replica = $replica RETURNING id`,
        { replica, times: jsonOf(times.map(({ id, ms }) => ({ id, ms }))) },
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
