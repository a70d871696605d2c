/** What people have left running, when they may no longer call. */
import type { Environment } from "../config/environment.ts";
import { cancelStartedBy } from "../programs/cancel-started-by.ts";
import { clientsOf, personOwner } from "./owner.ts";

/** Cancels the stored programs of people, in whatever process they run. */
export async function cancelProgramsOfPeople(ids: readonly string[], config: string, env: Environment): Promise<void> {
  for (const id of ids) await cancelStartedBy(clientsOf(personOwner(id)), env, config);
}
