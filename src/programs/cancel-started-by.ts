/** Cancels the stored executions of clients that may no longer call, of all configs and doors and in whatever process they run. */
import type { Environment } from "../config/environment.ts";
import { ownersFolder, storeFile } from "../config/locations.ts";
import { ExecutionStore } from "../store/sqlite/executions.ts";
import { isOwnerAlive, Owner } from "../store/sqlite/owner.ts";
import { Store } from "../store/sqlite/store.ts";
import { StoreWriter } from "../store/sqlite/writer.ts";
import { cancelledOutcome, outcomeJson } from "./stored-outcome.ts";

/**
 * `client` is how the names of the clients begin, and with `config` only the executions of this config are meant. Resolves when the processes
 * that run the executions are asked to cancel them, and all others have ended. Throws what opening the database throws.
 */
export async function cancelStartedBy(client: string, env: Environment, config?: string): Promise<void> {
  await using store = new Store(storeFile(env));
  const all = (await store.read((database) => new ExecutionStore(database).startedBy(client))) ?? [];
  const rows = all.filter((row) => config === undefined || row.config === config);
  if (rows.length === 0) return;
  using owner = await Owner.take(ownersFolder(env));
  const writer = new StoreWriter(store.file);
  try {
    for (const row of rows) {
      const { id } = row;
      if (row.owner !== null && (await isOwnerAlive(ownersFolder(env), row.owner))) {
        await writer.do("askToCancel", id, {});
      } else if (await writer.do("claim", id, { owner: owner.name, from: row.owner })) {
        await writer.do("ended", id, { ...(await outcomeJson(cancelledOutcome(row))), isOk: false });
      } else {
        // Another process has taken it over at this moment.
        await writer.do("askToCancel", id, {});
      }
    }
  } finally {
    await writer.close();
  }
}
