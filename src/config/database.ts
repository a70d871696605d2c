/** The address of a team's database. It comes from the environment, because it has a password. */
import { ClaudikinsError } from "../base/errors.ts";
import type { Environment } from "./environment.ts";
import { secretOf } from "./secret-variable.ts";

const given = {
  name: "CLAUDIKINS_DATABASE",
  hint: "Set CLAUDIKINS_DATABASE to postgres://user:password@host/name, or CLAUDIKINS_DATABASE_FILE to a file with this address.",
};

/**
 * The address of the Postgres in which claudikins stores what outlives a process. It is a secret. Undefined without one. Throws
 * CONFIG_INVALID, and FILE_NOT_FOUND if its file cannot be read. No error has the address.
 */
export function databaseOf(env: Environment): string | undefined {
  const found = secretOf(given, env);
  if (!found || isAddress(found.value)) return found?.value;
  throw new ClaudikinsError("CONFIG_INVALID", `${found.variable} has no address of a Postgres`, { hint: given.hint });
}

/** Connections of one process to the database, if nothing else is set. */
export const defaultDatabaseConnections = 12;

/** With fewer, nothing is left for work: see `reservedConnections` of the store. */
const minDatabaseConnections = 9;

/** Far more than one process can use. */
const maxDatabaseConnections = 200;

/** How many connections to the database this process may have. Throws CONFIG_INVALID. */
export function databaseConnectionsOf({ CLAUDIKINS_DATABASE_CONNECTIONS: given = "" }: Environment): number {
  if (given === "") return defaultDatabaseConnections;
  const count = /^\d{1,4}$/.test(given) ? Number(given) : 0;
  if (count >= minDatabaseConnections && count <= maxDatabaseConnections) return count;
  const range = `${minDatabaseConnections} to ${maxDatabaseConnections}`;
  throw new ClaudikinsError("CONFIG_INVALID", `CLAUDIKINS_DATABASE_CONNECTIONS is "${given.slice(0, 20)}"`, {
    hint: `Set it to a number from ${range}, or leave it out for ${defaultDatabaseConnections}.`,
  });
}

/** Whether the environment names a database, which may be wrong. */
export function namesDatabase({ CLAUDIKINS_DATABASE: given, CLAUDIKINS_DATABASE_FILE: file }: Environment): boolean {
  return Boolean(given || file);
}

function isAddress(text: string): boolean {
  const { protocol, pathname = "" } = URL.parse(text) ?? {};
  try {
    return (protocol === "postgres:" || protocol === "postgresql:") && decodeURIComponent(pathname).length > 1;
  } catch {
    return false;
  }
}
