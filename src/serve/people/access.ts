/** Takes access away from people, and gives it back. The audit log has each change before it is made. */
import type { Environment } from "../../config/environment.ts";
import type { Person } from "../../config/oidc.ts";
import { cancelStartedBy } from "../../programs/execution/cancel-started-by.ts";
import { removeCredentials } from "../../servers/auth/person-files.ts";
import { thisProcess } from "../../store/audit/decider.ts";
import { record } from "../../store/audit/record.ts";
import { openStore } from "../../store/open.ts";
import type { StoredPerson } from "../../store/people.ts";
import { clientsOf, personOwner } from "../owner.ts";

/**
 * Revokes people, with the programs that they have left and their credentials for servers, or restores them. `by` is the administrator on
 * the page, and `why` a reason for the audit log. Returns the people whose state has changed. Throws FILE_NOT_WRITABLE.
 */
export async function changePeople(
  chosen: readonly StoredPerson[],
  what: "revoked" | "restored",
  env: Environment,
  { by, why }: { by?: Person | undefined; why?: string | undefined } = {},
): Promise<StoredPerson[]> {
  const changing = chosen.filter(({ revokedAt }) => (revokedAt === null) === (what === "revoked"));
  const reason = why === undefined ? {} : { why };
  const events = changing.map(({ id, name, config }) => ({ decision: what, config, person: { id, name }, ...reason }));
  const place = thisProcess(by ? "page" : "command");
  if (events.length > 0) await record(env, events, { ...place, ...(by ? { person: by } : {}) });
  const revokedAt = what === "revoked" ? Date.now() : null;
  await using store = openStore(env);
  const changed = await store.people.setRevoked(changing, revokedAt);
  if (what === "revoked") for (const { id, config } of changed) await endPeople([id], config, env);
  return changed.map((each) => ({ ...each, revokedAt }));
}

/** Cancels the stored programs of people, in whatever process they run, and removes their credentials. Throws FILE_NOT_WRITABLE. */
export async function endPeople(ids: readonly string[], config: string, env: Environment): Promise<void> {
  for (const id of ids) await cancelStartedBy(clientsOf(personOwner(id)), env, config);
  for (const id of ids) await removeCredentials({ config, id }, env);
}
