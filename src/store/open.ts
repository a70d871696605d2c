/** Opens the store of the user. This is the only place that chooses where the data is. */
import type { Environment } from "../config/environment.ts";
import { storeFile } from "../config/locations.ts";
import { SqliteStore } from "./sqlite/store.ts";
import type { Store } from "./store.ts";

/** The user's store, for all projects. Nothing is opened or created before the first method needs it. */
export function openStore(env: Environment): Store {
  return new SqliteStore(storeFile(env));
}
