/** Opens the store of the user, or of the team. This is the only place that chooses where the data is. */
import { bucketOf } from "../config/bucket.ts";
import { databaseConnectionsOf, databaseOf } from "../config/database.ts";
import { useDatabaseDocuments } from "../config/documents.ts";
import type { Environment } from "../config/environment.ts";
import { storeFile, userDataFolder } from "../config/locations.ts";
import type { Bucket } from "./postgres/bucket.ts";
import type { PostgresDocuments } from "./postgres/documents.ts";
import { SqliteStore } from "./sqlite/store.ts";
import type { Store } from "./store.ts";

interface PostgresCode {
  PostgresStore: typeof import("./postgres/store.ts").PostgresStore;
  PostgresDocuments: typeof PostgresDocuments;
  Bucket: typeof Bucket;
}

let postgres: PostgresCode | undefined;

/** Loads the code for the database of a team. Call this before `openStore`, if the environment names a database: others do not load it. */
export async function loadPostgres(): Promise<void> {
  const [{ PostgresStore }, { PostgresDocuments }, { Bucket }] = await Promise.all([
    import("./postgres/store.ts"),
    import("./postgres/documents.ts"),
    import("./postgres/bucket.ts"),
  ]);
  postgres = { PostgresStore, PostgresDocuments, Bucket };
  useDatabaseDocuments(openDocuments);
}

/** The documents of this process, by database and data folder. All parts that read documents share what is in memory. */
const opened = new Map<string, PostgresDocuments>();

function openDocuments(env: Environment): PostgresDocuments {
  const { CLAUDIKINS_DATABASE: address, CLAUDIKINS_DATABASE_FILE: file } = env;
  const key = JSON.stringify([address, file, userDataFolder(env)]);
  return opened.getOrInsertComputed(key, () => new postgres!.PostgresDocuments(env));
}

/**
 * Reads the documents of the team, so that the rest of the process reads them without waiting. A database that cannot be reached is reported by
 * what needs it. Returns what closes them. Call `loadPostgres` before.
 */
export async function readDocuments(env: Environment): Promise<() => Promise<void>> {
  const documents = openDocuments(env);
  await documents.ready().catch(() => {});
  return () => documents[Symbol.asyncDispose]();
}

/**
 * The database that the environment names, or else the user's file, for all projects. Nothing is opened or created before the first method
 * needs it. Throws CONFIG_INVALID and FILE_NOT_FOUND if the environment names no database or no bucket that can be.
 */
export function openStore(env: Environment): Store {
  const database = databaseOf(env);
  if (database === undefined) return new SqliteStore(storeFile(env));
  return lentStore(database, env);
}

/** The bucket that the environment names. Nothing is asked before it is used. Throws CONFIG_INVALID and FILE_NOT_FOUND. */
export function openBucket(env: Environment): Bucket | undefined {
  if (!postgres) throw new Error("loadPostgres was not called");
  const address = bucketOf(env);
  return address && new postgres.Bucket(address, env);
}

/** The stores of this process that are open, and by how many parts each is used. */
const lent = new Map<string, { store: Store; users: number }>();

/**
 * All parts of a process use the same connections, however many of them open the store. What is returned is the store itself, but for its end:
 * the connections are closed when no part uses them any more.
 */
function lentStore(database: string, env: Environment): Store {
  if (!postgres) throw new Error("loadPostgres was not called");
  const { PostgresStore } = postgres;
  const maxConnections = databaseConnectionsOf(env);
  const address = bucketOf(env);
  const key = JSON.stringify([database, address]);
  const open = lent.getOrInsertComputed(key, () => {
    const bucket = openBucket(env);
    return { store: new PostgresStore(database, { maxConnections, bucket }), users: 0 };
  });
  open.users += 1;
  let hasEnded = false;
  const end = async () => {
    if (hasEnded) return;
    hasEnded = true;
    open.users -= 1;
    if (open.users > 0) return;
    lent.delete(key);
    await open.store[Symbol.asyncDispose]();
  };
  return new Proxy(open.store, {
    get(store, name) {
      if (name === Symbol.asyncDispose) return end;
      const member: unknown = Reflect.get(store, name, store);
      return typeof member === "function" ? member.bind(store) : member;
    },
  });
}
