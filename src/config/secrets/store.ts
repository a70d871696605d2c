/**
 * The user's secrets for `${secret:NAME}`. A file has their names and the place of each value: the system's keychain, or the file itself if there
 * is no keychain. Only the user can read the file.
 */
import { ClaudikinsError, systemCodeOf } from "../../base/errors.ts";
import { writeWhenChanged } from "../../base/files.ts";
import { isObject, parsedJson } from "../../base/json-object.ts";
import { KeychainFailure, keychainItem, removeKeychainItem, setKeychainItem } from "../../base/keychain.ts";
import { withLock } from "../../base/lock.ts";
import { isNewer, writtenByNewer } from "../../base/newer.ts";
import { readPrivate } from "../../base/private-file.ts";
import { shellWord } from "../../base/shell-word.ts";
import type { Environment } from "../environment.ts";
import { secretsFile } from "../locations.ts";

const what = "the secrets";

/** `setAt` is in milliseconds since 1970. */
type Kept = { place: "keychain"; setAt: number } | { place: "file"; setAt: number; value: string };

export interface StoredSecret {
  name: string;
  place: Kept["place"];
  setAt: number;
}

/** Sorted by name. Values are not read. Throws USAGE for a file that is damaged or that others can read, and VERSION_TOO_OLD. */
export function storedSecrets(env: Environment): StoredSecret[] {
  const all = [...readKept(env)].map(([name, { place, setAt }]) => ({ name, place, setAt }));
  return all.sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** Undefined if it was never set. Throws the errors of `storedSecrets`. */
export function storedSecret(name: string, env: Environment): Omit<StoredSecret, "name"> | undefined {
  return readKept(env).get(name);
}

/**
 * The value of a secret. Undefined if it was never set. Throws KeychainFailure, also if the keychain does not give a value that it was given,
 * and the errors of `storedSecrets`.
 */
export async function readSecret(name: string, env: Environment): Promise<string | undefined> {
  const kept = readKept(env).get(name);
  if (kept === undefined) return undefined;
  if (kept.place === "file") return kept.value;
  const value = await keychainItem(itemOf(name), env);
  if (value === undefined) throw new KeychainFailure("is locked, or no longer has it");
  return value;
}

interface SecretPlace {
  place: Kept["place"];
  /** Why it is not in the keychain, as the end of a sentence that begins with "the keychain". Undefined if it is, or if the caller chose the file. */
  why?: string;
}

/**
 * Sets a secret. It is in the file if the keychain cannot be used, or with `inFile`. Throws the errors of `storedSecrets`, FILE_NOT_WRITABLE,
 * and KeychainFailure if the keychain does not answer: then a person has to decide.
 */
export function setSecret(
  name: string,
  value: string,
  { inFile = false, env }: { inFile?: boolean | undefined; env: Environment },
): Promise<SecretPlace> {
  return change(env, async (all) => {
    const found: SecretPlace = inFile ? { place: "file" } : await putInKeychain(name, value, env);
    const wasInKeychain = all.get(name)?.place === "keychain";
    const setAt = Date.now();
    all.set(name, found.place === "file" ? { place: "file", setAt, value } : { place: "keychain", setAt });
    // An old value that cannot be removed does no harm: it is not used any more.
    if (found.place === "file" && wasInKeychain) await removeKeychainItem(itemOf(name), env).catch(() => {});
    return found;
  });
}

/** A keychain that is locked accepts a value and keeps nothing, so the value is read back. */
async function putInKeychain(name: string, value: string, env: Environment): Promise<SecretPlace> {
  try {
    await setKeychainItem(itemOf(name), value, env);
    if ((await keychainItem(itemOf(name), env)) === value) return { place: "keychain" };
    return { place: "file", why: "did not keep the value" };
  } catch (error) {
    if (!(error instanceof KeychainFailure) || error.isLate) throw error;
    return { place: "file", why: error.message };
  }
}

/**
 * Removes secrets. Returns why the keychain may still have a value, as the end of a sentence that begins with "the keychain"; undefined if it has none.
 * Throws the errors of `storedSecrets`, and FILE_NOT_WRITABLE.
 */
export function removeSecrets(names: readonly string[], env: Environment): Promise<string | undefined> {
  return change(env, async (all) => {
    let why: string | undefined;
    for (const name of names) {
      if (all.get(name)?.place === "keychain") {
        // A keychain that failed once is not waited for again.
        if (why === undefined) why = await removalProblem(name, env);
      }
      all.delete(name);
    }
    return why;
  });
}

async function removalProblem(name: string, env: Environment): Promise<string | undefined> {
  try {
    await removeKeychainItem(itemOf(name), env);
    return undefined;
  } catch (error) {
    if (error instanceof KeychainFailure) return error.message;
    throw error;
  }
}

const itemOf = (name: string) => `secret ${name}`;

function change<T>(env: Environment, edit: (all: Map<string, Kept>) => Promise<T>): Promise<T> {
  const file = secretsFile(env);
  return withLock(`${file}.lock`, what, async () => {
    const all = readKept(env);
    const done = await edit(all);
    const text = JSON.stringify({ version: 1, secrets: Object.fromEntries(all) }, null, 1);
    writeWhenChanged(file, `${text}\n`, undefined, 0o600);
    return done;
  });
}

function readKept(env: Environment): Map<string, Kept> {
  const file = secretsFile(env);
  const text = textOf(file);
  if (text === undefined) return new Map();
  const value = parsedJson(text);
  if (isNewer(value, 1)) throw writtenByNewer(what);
  const { version, secrets } = isObject(value) ? value : {};
  if (version !== 1 || !isObject(secrets) || !Object.values(secrets).every(isKept)) {
    throw unusable(`The file of secrets is damaged: ${file}`, "Repair it, or delete it and set the secrets again.");
  }
  return new Map(Object.entries(secrets as Record<string, Kept>));
}

function isKept(value: unknown): value is Kept {
  if (!isObject(value) || typeof value["setAt"] !== "number") return false;
  return value["place"] === "keychain" || (value["place"] === "file" && typeof value["value"] === "string");
}

function textOf(file: string): string | undefined {
  let found: ReturnType<typeof readPrivate>;
  try {
    found = readPrivate(file);
  } catch (cause) {
    throw unusable(`Cannot read ${what} from ${file}: ${systemCodeOf(cause) ?? "unknown error"}`, "Check the file.");
  }
  if (found?.isPrivate === false) {
    throw unusable(
      `Others can read or change ${file}, so no secret in it is used`,
      `Run: chmod 600 ${shellWord(file)}`,
    );
  }
  return found?.text;
}

function unusable(message: string, hint: string): ClaudikinsError {
  return new ClaudikinsError("USAGE", message, { hint });
}
