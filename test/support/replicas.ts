/** Replicas of `serve --http` with the same config, which share a Postgres. Each has a data folder of its own. */
import { join } from "node:path";
import { type HttpServe, httpServe, type ServeOptions } from "./http-serve.ts";
import type { PostgresFixture } from "./postgres.ts";
import type { TemporaryFolder } from "./temporary.ts";

export interface Replicas extends AsyncDisposable {
  all: HttpServe[];
  /** The address of their database. */
  database: string;
}

export async function openReplicas(
  folder: TemporaryFolder,
  server: PostgresFixture,
  count: number,
  { flags = [], env = {}, ...options }: ServeOptions & { flags?: string[] } = {},
): Promise<Replicas> {
  const database = await server.database();
  const start = (index: number) => {
    const own = { XDG_DATA_HOME: join(folder.path, `data-${index}`), CLAUDIKINS_DATABASE: database };
    return httpServe(folder, flags, { ...options, env: { ...own, CLAUDIKINS_LOG: "debug", ...env } });
  };
  const all = await Promise.all(Array.from({ length: count }, (_, index) => start(index)));
  return {
    all,
    database,
    [Symbol.asyncDispose]: async () => {
      await Promise.all(all.map((each) => each[Symbol.asyncDispose]()));
    },
  };
}
