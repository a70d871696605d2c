/** The credentials of the person for whom an app works, for servers that use each person's own. */
import type { Log } from "../base/log.ts";
import { usesOwn } from "../config/credentials.ts";
import type { Environment } from "../config/environment.ts";
import type { Config } from "../config/load.ts";
import { personCredentialsFile } from "../config/locations.ts";
import type { CredentialOwner, CredentialStore } from "../servers/auth/credentials.ts";

export interface OwnCredentialsOptions extends Pick<CredentialOwner, "accessToken" | "pageFor"> {
  env: Environment;
  log: Log;
}

/**
 * Undefined if no server of the config needs them, or if a variable of the keys is not set, which the servers say themselves. Throws
 * FILE_NOT_FOUND and CONFIG_INVALID for keys that cannot be used.
 */
export async function ownCredentials(
  { servers, sealing, person, origin }: Config,
  { env, log, accessToken, pageFor }: OwnCredentialsOptions,
): Promise<CredentialStore | undefined> {
  const isUsed = sealing !== undefined && sealing.needs.length === 0 && [...servers.values()].some(usesOwn);
  if (!isUsed || !person || origin.kind === "demo") return undefined;
  const [{ CredentialStore }, { Seal, sealingKeysOf }] = await Promise.all([
    import("../servers/auth/credentials.ts"),
    import("../servers/auth/seal.ts"),
  ]);
  const seal = new Seal(sealingKeysOf(sealing), JSON.stringify([origin.file, person.id]));
  const file = personCredentialsFile({ config: origin.file, person: person.id }, env);
  const owner = { name: person.name, seal, accessToken, pageFor };
  return new CredentialStore(file, (message) => log.warn(message), owner);
}
