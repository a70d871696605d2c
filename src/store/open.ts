/** Opens the store of the user, or of the team. This is the only place that chooses where the data is. */
import { databaseOf } from "../config/database.ts";
import type { Environment } from "../config/environment.ts";
import { storeFile } from "../config/locations.ts";
import { SqliteStore } from "./sqlite/store.ts";
import type { Store } from "./store.ts";

/**
 * The database that the environment names, or else the user's file, for all projects. Nothing is opened or created before the first method
 * needs it. Throws CONFIG_INVALID and FILE_NOT_FOUND if the environment names no database that can be.
 */
export function openStore(env: Environment): Store {
  const database = databaseOf(env);
  if (database === undefined) return new SqliteStore(storeFile(env));
  // Only a team loads it, and the caller does not wait.
  const { PostgresStore } = require("./postgres/store.ts") as typeof import("./postgres/store.ts");
  return new PostgresStore(database);
}
