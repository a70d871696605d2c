/** Cancels the stored executions of clients that may no longer call, of all configs and doors and in whatever process they run. */
import type { Environment } from "../../config/environment.ts";
import { openStore } from "../../store/open.ts";
import { cancelledOutcome, outcomeJson } from "./stored-outcome.ts";

/**
 * `client` is how the names of the clients begin, and with `config` only the executions of this config are meant. Resolves when the processes
 * that run the executions are asked to cancel them, and all others have ended. Throws what opening the database throws.
 */
export async function cancelStartedBy(client: string, env: Environment, config?: string): Promise<void> {
  await using store = openStore(env);
  const rows = (await store.executions.startedBy(client)).filter(
    (row) => config === undefined || row.config === config,
  );
  if (rows.length === 0) return;
  await using owner = await store.takeOwner();
  const writer = store.executions.writer();
  try {
    for (const row of rows) {
      const { id } = row;
      if (row.owner !== null && (await store.isAlive(row.owner))) {
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
