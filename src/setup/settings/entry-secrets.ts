/** Sets the secrets that a new or a changed entry refers to, and removes them again if the entry is not written. */
import { ClaudikinsError } from "../../base/errors.ts";
import type { Environment } from "../../config/environment.ts";
import { removeNamedSecrets, requireSecretName, setNamedSecret } from "../../config/secrets/change.ts";
import { storedSecret } from "../../config/secrets/store.ts";

/** A secret of the user that an entry refers to. Without a value, it must be set already. */
export interface EntrySecret {
  name: string;
  value?: string | undefined;
}

interface SecretsOptions {
  env: Environment;
  /** Whether the entry is in the file. The secrets stay in that case, even if the work fails. */
  isWritten: () => boolean;
}

/**
 * Does the work while the secrets are set. If it fails before the entry is written, they are removed. Returns its result, and a note for each
 * secret that is not in the keychain. Throws what the work throws, SECRET_NOT_FOUND for a secret that must be set already, USAGE for a new one
 * whose name is taken, and the errors of `setNamedSecret`.
 */
export async function withEntrySecrets<T>(
  secrets: readonly EntrySecret[],
  { env, isWritten }: SecretsOptions,
  work: () => Promise<T>,
): Promise<{ done: T; notes: string[] }> {
  const set: string[] = [];
  const notes: string[] = [];
  try {
    for (const { name, value } of secrets) {
      if (value === undefined) requireStored(name, env);
      else {
        requireFree(name, env);
        const { note } = await setNamedSecret(name, value, { env });
        set.push(name);
        if (note !== undefined) notes.push(`${name}: ${note}`);
      }
    }
    return { done: await work(), notes };
  } catch (error) {
    if (set.length > 0 && !isWritten()) await removeNamedSecrets(set, env);
    throw error;
  }
}

function requireStored(name: string, env: Environment): void {
  requireSecretName(name);
  if (storedSecret(name, env)) return;
  throw new ClaudikinsError("SECRET_NOT_FOUND", `There is no secret "${name}"`, {
    hint: `Set it: claudikins secrets set ${name}`,
  });
}

/** The value of a secret may be in use elsewhere, so it is not replaced by the way. */
function requireFree(name: string, env: Environment): void {
  requireSecretName(name);
  if (!storedSecret(name, env)) return;
  throw new ClaudikinsError("USAGE", `There already is a secret "${name}", and nothing was changed`, {
    hint: `Use another name, or replace its value: claudikins secrets set ${name}`,
  });
}
