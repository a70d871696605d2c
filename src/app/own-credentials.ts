/** The credentials of the person for whom an app works, for servers that use each person's own. */
import { dirname } from "node:path";
import type { Log } from "../base/log.ts";
import { usesOwn } from "../config/credentials.ts";
import { documentsOf } from "../config/documents.ts";
import type { Environment } from "../config/environment.ts";
import type { Config } from "../config/load.ts";
import { personCredentialsFile } from "../config/locations.ts";
import { connectPath, pagePath } from "../config/oidc.ts";
import type { CredentialOwner, CredentialStore } from "../servers/auth/credentials.ts";

interface OwnCredentialsOptions extends Pick<CredentialOwner, "tokenOf"> {
  env: Environment;
  log: Log;
  /** Our address for the person's browser. Without it, the public address of the config. */
  origin?: string | undefined;
}

/**
 * Undefined if no server of the config needs them, or if a variable of the keys is not set, which the servers say themselves. Throws
 * NEEDS_SECRET, and FILE_NOT_FOUND and CONFIG_INVALID for keys that cannot be used.
 */
export async function ownCredentials(
  { servers, sealing, person, door, oidc, origin: from }: Config,
  { env, log, tokenOf, origin = oidc?.address }: OwnCredentialsOptions,
): Promise<CredentialStore | undefined> {
  const isUsed = sealing !== undefined && sealing.needs.length === 0 && [...servers.values()].some(usesOwn);
  if (!isUsed || !person || from.kind === "demo") return undefined;
  const [{ CredentialStore }, { Seal }, { sealingKeysOf, withSecrets }] = await Promise.all([
    import("../servers/auth/credentials.ts"),
    import("../base/seal.ts"),
    import("../servers/auth/seal.ts"),
  ]);
  const keys = sealingKeysOf(await withSecrets(sealing, env));
  const seal = new Seal(keys, JSON.stringify([from.file, person.id]));
  const file = personCredentialsFile({ config: from.file, person: person.id }, env);
  const hasPage = origin !== undefined && oidc?.clientId !== undefined;
  const pageFor = (server: string) =>
    hasPage ? `${origin}${pagePath}${connectPath(door, server, person.id)}` : undefined;
  const owner = { name: person.name, seal, tokenOf, pageFor };
  const documents = documentsOf(env);
  // Without the database now, the first server that needs them waits for it.
  await documents.ready([dirname(file)]).catch(() => {});
  return new CredentialStore(file, (message) => log.warn(message), { owner, documents });
}
