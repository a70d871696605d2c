/** Finds the parts of the user's data that a newer version has written. */

import { ClaudikinsError } from "../../base/errors.ts";
import { documentsOf } from "../../config/documents.ts";
import type { Environment } from "../../config/environment.ts";
import { credentialsFile } from "../../config/locations.ts";
import { readTrust } from "../../config/trust/store.ts";
import { readTokens } from "../../serve/tokens/token-file.ts";
import { CredentialStore } from "../../servers/auth/credentials.ts";
import { Journal } from "../../setup/agents/journal.ts";
import { openStore } from "../../store/open.ts";

/** Nouns with their articles, such as "the sign-ins". Changes nothing. */
export async function unreadableStores(env: Environment): Promise<string[]> {
  const credentials = new CredentialStore(credentialsFile(env), undefined, { documents: documentsOf(env) });
  const checks: [string, () => unknown][] = [
    ["the sign-ins", () => credentials.read({ name: "", url: "http://localhost" } as never)],
    ["the list of trusted configs", () => readTrust(env)],
    ["the tokens of serve --http", () => readTokens(env)],
    ["the list of changed files", () => new Journal(env).changes],
  ];
  const newer = checks.filter(([, read]) => isTooOld(read)).map(([what]) => what);
  return (await isDatabaseTooNew(env)) ? ["the database", ...newer] : newer;
}

/** A database that cannot be reached is another finding, see `databaseFindings`. */
async function isDatabaseTooNew(env: Environment): Promise<boolean> {
  try {
    await using store = openStore(env);
    return await store.isTooNew();
  } catch (error) {
    if (error instanceof ClaudikinsError) return false;
    throw error;
  }
}

/** Whether reading fails because this version is too old. Other failures have nothing to do with versions. */
function isTooOld(read: () => unknown): boolean {
  try {
    read();
    return false;
  } catch (error) {
    return error instanceof ClaudikinsError && error.code === "VERSION_TOO_OLD";
  }
}
