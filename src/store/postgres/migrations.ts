/** Makes the schema of the database. Any number of processes may do so at once: one does, and the others wait for it. */
import { writtenByNewer } from "../../base/newer.ts";
import { schemaVersion } from "../tables.ts";
import type { Connections } from "./connections.ts";
import { unavailable } from "./errors.ts";
import type { Querying } from "./querying.ts";
import { schema } from "./schema.ts";

/** The first version with `pg_xact_status` and `pg_current_xact_id`. */
const oldestServer = 130_000;

/** The lock of a process that makes the schema, a number that nothing else in the database should use: "claudiki" in hexadecimal. */
const lock = "x'636c617564696b69'::bigint";

/** Takes a lock until the end of the transaction. False if another process has it. */
export async function tryLock(name: string, querying: Querying): Promise<boolean> {
  const statement = "SELECT pg_try_advisory_xact_lock(hashtextextended($name, 0)) AS taken";
  return (await querying.get<{ taken: boolean }>(statement, { name }))?.taken === true;
}

interface Schema {
  version: number;
  /** The version that a program must know to use it. */
  oldest: number;
}

/** Throws DATABASE_UNAVAILABLE, and VERSION_TOO_OLD if a newer claudikins has changed the schema. */
export async function migrate(connections: Connections): Promise<void> {
  const isMade = await connections.unprepared(async (querying) => {
    await requireFit(querying);
    return isUsable(await schemaOf(querying));
  });
  if (isMade) return;
  await connections.unpreparedTransaction(async (querying) => {
    await querying.run(`SELECT pg_advisory_xact_lock(${lock})`);
    if (!isUsable(await schemaOf(querying))) await makeSchema(querying);
  });
}

/** Whether a newer claudikins has changed the schema in a way that this one does not understand. */
export async function isTooNew(connections: Connections): Promise<boolean> {
  const found = await connections.unprepared(schemaOf);
  return (found?.oldest ?? 0) > schemaVersion;
}

async function requireFit(querying: Querying): Promise<void> {
  const server = await querying.get<{ version: number; encoding: string }>(
    "SELECT current_setting('server_version_num')::int AS version, current_setting('server_encoding') AS encoding",
  );
  const { version = 0, encoding = "" } = server ?? {};
  if (version < oldestServer) {
    const text = `Postgres ${Math.floor(version / 10_000)} is too old for claudikins`;
    throw unavailable(text, `Use Postgres ${oldestServer / 10_000} or a later version.`);
  }
  if (encoding !== "UTF8") {
    const hint = "Make another one: createdb --encoding UTF8 --template template0 <name>";
    throw unavailable(`The database that CLAUDIKINS_DATABASE names has the encoding ${encoding}, not UTF8`, hint);
  }
}

async function schemaOf(querying: Querying): Promise<Schema | undefined> {
  // to_regclass does not see what another transaction has just committed.
  const found = await querying.get(
    `SELECT 1 AS one FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
     WHERE nspname = 'claudikins' AND relname = 'schema_version'`,
  );
  return found ? querying.get<Schema>("SELECT version, oldest FROM claudikins.schema_version") : undefined;
}

/** A newer program may have added something, which this one does not see. */
function isUsable(found: Schema | undefined): boolean {
  if (found && found.oldest > schemaVersion) throw writtenByNewer("the database");
  return found !== undefined;
}

async function makeSchema(querying: Querying): Promise<void> {
  // An administrator may have made it for a user who may not.
  const named = "SELECT 1 FROM pg_namespace WHERE nspname = 'claudikins'";
  if (!(await querying.get(named))) await querying.script("CREATE SCHEMA claudikins");
  await querying.script(
    `CREATE TABLE claudikins.schema_version (version INTEGER NOT NULL, oldest INTEGER NOT NULL);
     INSERT INTO claudikins.schema_version VALUES (${schemaVersion}, ${schemaVersion});
     ${schema}`,
  );
}
