/**
 * The tokens of `serve --http`, in one document of the user or of the team. It has the digest of each token and never the token itself. A token
 * belongs to one config, so that the doors of other configs stay closed for it.
 */
import { dirname } from "node:path";
import type { Documents } from "../../base/documents.ts";
import { ClaudikinsError, messageOf, systemCodeOf } from "../../base/errors.ts";
import { isObject, type JsonObject, parsedJson } from "../../base/json-object.ts";
import { isNewer, writtenByNewer } from "../../base/newer.ts";
import { readPrivate } from "../../base/private-file.ts";
import { shellWord } from "../../base/shell-word.ts";
import { documentsOf } from "../../config/documents.ts";
import type { Environment } from "../../config/environment.ts";
import { tokensFile } from "../../config/locations.ts";

/** Times are in milliseconds since 1970. */
export interface StoredToken {
  /** The SHA-256 of the token, as hexadecimal. */
  hash: string;
  name?: string | undefined;
  /** The only door that it opens. Undefined: it opens every address of the config. */
  door?: string | undefined;
  /** The config file; null for the demo. */
  config: string | null;
  createdAt: number;
  /** Undefined: it never expires. */
  expiresAt?: number | undefined;
  lastUsedAt?: number | undefined;
}

const what = "the tokens of serve --http";

/** The tokens begin with this, so that people and secret scanners recognize them. */
export const tokenPrefix = "ck_";

/** The public name of a token: the beginning of its digest. */
export function tokenId({ hash }: Pick<StoredToken, "hash">): string {
  return hash.slice(0, 8);
}

/** Throws USAGE for a file that is damaged or that others can read or change, VERSION_TOO_OLD, and DATABASE_UNAVAILABLE. */
export function readTokens(env: Environment): StoredToken[] {
  return readDocument(tokensFile(env), documentsOf(env)).tokens;
}

/**
 * Changes the tokens: `change` edits the list, and nothing is written if it throws. Throws the errors of `readTokens`, FILE_NOT_WRITABLE,
 * and CALL_TIMEOUT if another process has the lock for longer than `waitMs`.
 */
export function changeTokens<T>(
  env: Environment,
  change: (tokens: StoredToken[]) => T | Promise<T>,
  waitMs?: number,
): Promise<T> {
  const file = tokensFile(env);
  const documents = documentsOf(env);
  return documents.alone({ folder: dirname(file), lock: `${file}.lock`, what, waitMs }, async (changes) => {
    const document = readDocument(file, documents);
    const before = JSON.stringify(document);
    const changed = await change(document.tokens);
    if (JSON.stringify(document) !== before) changes.write(file, `${JSON.stringify(document, null, 1)}\n`);
    return changed;
  });
}

/** Fields that a later version has added stay as they are. */
function readDocument(file: string, documents: Documents): JsonObject & { version: number; tokens: StoredToken[] } {
  const text = documents.areFiles ? privateTextOf(file) : documents.read(file);
  if (text === undefined) return { version: 1, tokens: [] };
  const value = parsedJson(text);
  if (isNewer(value, 1)) throw writtenByNewer(what);
  const { version, tokens } = isObject(value) ? value : {};
  if (!isObject(value) || version !== 1 || !Array.isArray(tokens) || !tokens.every(isToken)) throw damaged(file);
  return { ...value, version, tokens };
}

function privateTextOf(file: string): string | undefined {
  let found: ReturnType<typeof readPrivate>;
  try {
    found = readPrivate(file);
  } catch (cause) {
    throw unusable(`Cannot read ${what} from ${file}: ${systemCodeOf(cause) ?? messageOf(cause)}`, "Check the file.");
  }
  if (found?.isPrivate === false) {
    const hint = `Look whether all of its tokens are yours, then: chmod 600 ${shellWord(file)}`;
    throw unusable(`Others can read or change ${file}, so no token in it is accepted`, hint);
  }
  return found?.text;
}

function damaged(file: string): ClaudikinsError {
  return unusable(`The file of tokens is damaged: ${file}`, "Repair it, or delete it and make new tokens.");
}

function unusable(message: string, hint: string): ClaudikinsError {
  return new ClaudikinsError("USAGE", message, { hint });
}

function isToken(value: unknown): value is StoredToken {
  const { hash, name, door, config, createdAt, expiresAt, lastUsedAt } = Object(value) as Record<string, unknown>;
  const isText = (each: unknown) => each === undefined || typeof each === "string";
  const isTime = (each: unknown) => each === undefined || typeof each === "number";
  return (
    /^[0-9a-f]{64}$/.test(String(hash)) &&
    isText(name) &&
    isText(door) &&
    (config === null || typeof config === "string") &&
    typeof createdAt === "number" &&
    isTime(expiresAt) &&
    isTime(lastUsedAt)
  );
}
