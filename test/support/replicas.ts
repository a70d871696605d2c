/** Replicas of `serve --http` with the same config, which share a Postgres. Each has a data folder of its own. */
import { join } from "node:path";
import { type HttpServe, httpServe, type ServeOptions } from "./http-serve.ts";
import type { PostgresFixture } from "./postgres.ts";
import type { TemporaryFolder } from "./temporary.ts";

export interface Replicas extends AsyncDisposable {
  all: HttpServe[];
  /** The address of their database. */
  database: string;
  /** Starts one more. `more` are further flags. */
  start(more?: string[]): Promise<HttpServe>;
}

interface ReplicaOptions extends ServeOptions {
  flags?: string[];
  /** Where each listens, with its port. */
  hosts?: readonly string[];
}

export async function openReplicas(
  folder: TemporaryFolder,
  server: PostgresFixture,
  count: number,
  { flags = [], env = {}, hosts, ...options }: ReplicaOptions = {},
): Promise<Replicas> {
  const database = await server.database();
  const start = (index: number, more: string[] = []) => {
    const own = { XDG_DATA_HOME: join(folder.path, `data-${index}`), CLAUDIKINS_DATABASE: database };
    const given = [...flags, ...more];
    // Tests of the end say how long the lame duck serves.
    const all = given.includes("--lame-duck") ? given : ["--lame-duck", "0s", ...given];
    const port = hosts?.[index] === undefined ? {} : { port: hosts[index] };
    return httpServe(folder, all, { ...options, ...port, env: { ...own, CLAUDIKINS_LOG: "debug", ...env } });
  };
  const all = await Promise.all(Array.from({ length: count }, (_, index) => start(index)));
  return {
    all,
    database,
    start: async (more = []) => {
      const started = await start(all.length, more);
      all.push(started);
      return started;
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(all.map((each) => each[Symbol.asyncDispose]()));
    },
  };
}

/**
 * Kills a replica, and ends its leases at once. By themselves they end after 15 seconds, like those of the replica that stands still in
 * `test/serve/replicas/sessions.slow.test.ts`.
 */
export async function killReplica(replica: HttpServe, server: PostgresFixture, database: string): Promise<void> {
  process.kill(replica.pid, "SIGKILL");
  await replica.exited;
  const { origin } = new URL(replica.url);
  const ended = await server.run(database, `DELETE FROM claudikins.owners WHERE url = '${origin}' RETURNING name`);
  if (ended.length === 0) throw new Error(`no lease is that of ${origin}`);
}
