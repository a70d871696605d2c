/** The replicas that run now, and the key that they share. */
import { randomBytes } from "node:crypto";
import type { Reached, Replica, ReplicaRows } from "../replicas.ts";
import type { Connections } from "./connections.ts";
import { isAliveIn, type Owners } from "./owners.ts";
import { PostgresSessions } from "./sessions.ts";
import { PostgresValues } from "./values.ts";

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
