/** Sets and removes secrets by their names, for the command line and the page. */
import { ClaudikinsError } from "../../base/errors.ts";
import { KeychainFailure } from "../../base/keychain.ts";
import { didYouMean } from "../../base/near-names.ts";
import type { Environment } from "../environment.ts";
import { secretsFile } from "../locations.ts";
import { isSecretName } from "./references.ts";
import { removeSecrets, type StoredSecret, setSecret, storedSecrets } from "./store.ts";

/** Characters of a secret. Private keys and certificates are shorter. */
const maxSecretChars = 65_536;

/** Throws USAGE for a name that no reference can have. */
export function requireSecretName(name: string): void {
  if (isSecretName(name)) return;
  throw new ClaudikinsError("USAGE", "This is not a name of a secret", {
    hint: "A name has at most 64 letters, digits and underscores, and does not begin with a digit: GITHUB_TOKEN",
  });
}

export interface SetSecret {
  place: StoredSecret["place"];
  /** The place, for people. */
  where: string;
  /** Why the value is not in the keychain. Undefined if it is, or if the caller chose the file. */
  note: string | undefined;
}

/**
 * Sets a secret, without the line break at the end of the value. Throws USAGE for a name or a value that cannot be used, KEYCHAIN_UNAVAILABLE,
 * and the errors of `setSecret`. Nothing that is thrown or returned has the value.
 */
export async function setNamedSecret(
  name: string,
  given: string,
  { inFile, env }: { inFile?: boolean | undefined; env: Environment },
): Promise<SetSecret> {
  requireSecretName(name);
  const kept = await setSecret(name, usableValue(name, given), { inFile, env }).catch((error: unknown) => {
    if (!(error instanceof KeychainFailure)) throw error;
    throw new ClaudikinsError("KEYCHAIN_UNAVAILABLE", `The keychain ${error.message}`, {
      hint: `Unlock it and try again, or keep the value in a file: claudikins secrets set ${name} --file`,
    });
  });
  return {
    place: kept.place,
    where: kept.place === "keychain" ? "the system's keychain" : secretsFile(env),
    note:
      kept.why === undefined ? undefined : `The keychain ${kept.why}. The value is in a file that only you can read.`,
  };
}

/** Throws USAGE for a value that cannot be used. */
function usableValue(name: string, given: string): string {
  const value = given.replace(/\r?\n$/, "");
  const problem =
    value === ""
      ? "is empty"
      : value.length > maxSecretChars
        ? `has more than ${maxSecretChars} characters`
        : value.includes("\0")
          ? "has a null character"
          : undefined;
  if (problem === undefined) return value;
  throw new ClaudikinsError("USAGE", `The value of ${name} ${problem}. Nothing was changed`, {
    hint: `Type it at the prompt of claudikins secrets set ${name}, or give it on stdin.`,
  });
}

/** Removes secrets. Returns why the keychain may still have a value, if it may. Throws SECRET_NOT_FOUND, and the errors of `removeSecrets`. */
export async function removeNamedSecrets(names: readonly string[], env: Environment): Promise<string | undefined> {
  const known = storedSecrets(env).map(({ name }) => name);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new ClaudikinsError("SECRET_NOT_FOUND", `There is no secret "${unknown}". Nothing was removed`, {
      hint: didYouMean(unknown, known) || "To list all secrets: claudikins secrets",
    });
  }
  const why = await removeSecrets(names, env);
  return why === undefined ? undefined : `The keychain ${why}, so it may still have the old value.`;
}
