/** Opens the store of the user, or of the team. This is the only place that chooses where the data is. */
import { databaseOf } from "../config/database.ts";
import type { Environment } from "../config/environment.ts";
import { storeFile } from "../config/locations.ts";
import { SqliteStore } from "./sqlite/store.ts";
import type { Store } from "./store.ts";

let postgres: typeof import("./postgres/store.ts") | undefined;

/** Loads the code for the database of a team. Call this before `openStore`, if the environment names a database: others do not load it. */
export async function loadPostgres(): Promise<void> {
  postgres = await import("./postgres/store.ts");
}

/**
 * The database that the environment names, or else the user's file, for all projects. Nothing is opened or created before the first method
 * needs it. Throws CONFIG_INVALID and FILE_NOT_FOUND if the environment names no database that can be.
 */
export function openStore(env: Environment): Store {
  const database = databaseOf(env);
  if (database === undefined) return new SqliteStore(storeFile(env));
  if (!postgres) throw new Error("loadPostgres was not called");
  return new postgres.PostgresStore(database);
}
