/** The schema of the database. Any number of processes may make it at once: one does, and the others wait for it. */

import { writtenByNewer } from "../../base/newer.ts";
import { inWords, laterTables, missingTablesFor, schemaVersion, type TypeWords, tablesFor } from "../tables.ts";
import type { Connections } from "./connections.ts";
import { unavailable } from "./errors.ts";
import { objectTables } from "./objects.ts";
import type { Querying } from "./querying.ts";
import { beginCounting, isCounted, objectPagesCounting } from "./room.ts";

const words: TypeWords = {
  ID: 'TEXT COLLATE "C"',
  NUMBER: "DOUBLE PRECISION",
  FLAG: "BOOLEAN",
  BYTES: "BYTEA",
  PLACE: "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
  BY_DAY: "PARTITION BY RANGE (at)",
};

/** What stands only here is what several machines need. */
const schema = `${tablesFor(words)}
ALTER TABLE claudikins.pages ALTER COLUMN bytes SET STORAGE EXTERNAL;

-- Finds the executions that are due and that no process runs, among many that wait.
CREATE INDEX due_executions ON claudikins.executions (coalesce(config, ''), coalesce(owner, ''), wake_at)
  WHERE state = 'open' AND unsaved IS NULL;

CREATE FUNCTION claudikins.refuse() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'lines of the audit log are only added';
END $$;
CREATE TRIGGER audit_is_not_changed BEFORE UPDATE OR DELETE OR TRUNCATE ON claudikins.audit
  FOR EACH STATEMENT EXECUTE FUNCTION claudikins.refuse();
CREATE TRIGGER audit_end_stays BEFORE INSERT OR DELETE OR TRUNCATE ON claudikins.audit_end
  FOR EACH STATEMENT EXECUTE FUNCTION claudikins.refuse();
CREATE TRIGGER audit_end_grows BEFORE UPDATE ON claudikins.audit_end
  FOR EACH ROW WHEN (NEW.place <= OLD.place) EXECUTE FUNCTION claudikins.refuse();

-- The processes that run executions or wait for approvals, each until its lease ends: the replica that has the lease,
-- and its address.
CREATE TABLE claudikins.owners (
  name TEXT PRIMARY KEY,
  expires_at TIMESTAMPTZ NOT NULL,
  replica TEXT,
  url TEXT
);

-- The key that replicas share: 32 bytes in hexadecimal.
CREATE TABLE claudikins.shared_key (
  is_only BOOLEAN PRIMARY KEY DEFAULT TRUE CHECK (is_only),
  key TEXT NOT NULL
);

-- The sessions over HTTP of the revisions up to 2025-11-25, by digests of their ids. \`parameters\` and \`kept\` are JSON.
CREATE TABLE claudikins.sessions (
  id TEXT COLLATE "C" PRIMARY KEY,
  replica TEXT NOT NULL,
  place TEXT NOT NULL,
  owner TEXT,
  client TEXT NOT NULL,
  parameters TEXT NOT NULL,
  kept TEXT NOT NULL,
  adoptions INTEGER NOT NULL DEFAULT 0,
  expires_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX old_sessions ON claudikins.sessions (expires_at);

-- Short texts for some time: the sessions of the page and its sign-ins, sealed with the secret that the browser has.
CREATE TABLE claudikins.kept_values (
  place BIGINT GENERATED ALWAYS AS IDENTITY,
  kind TEXT NOT NULL,
  id TEXT COLLATE "C" NOT NULL,
  value TEXT NOT NULL,
  ends_at DOUBLE PRECISION NOT NULL,
  PRIMARY KEY (kind, id)
);
CREATE INDEX kept_values_by_place ON claudikins.kept_values (kind, place);

-- Tokens of serve --http, saved programs and their schedules, and sealed credentials: as files of a data folder, by their paths in it.
-- \`version\` is another one after each change.
CREATE TABLE claudikins.documents (
  folder TEXT COLLATE "C" NOT NULL,
  name TEXT COLLATE "C" NOT NULL,
  text TEXT NOT NULL,
  version TEXT NOT NULL,
  PRIMARY KEY (folder, name)
);

-- Who changes documents, or gets new tokens, at this moment.
CREATE TABLE claudikins.document_locks (
  name TEXT COLLATE "C" PRIMARY KEY,
  holder TEXT NOT NULL,
  expires_at TIMESTAMPTZ NOT NULL
);

-- The workspaces that replicas share. Each change of one gets the next version.
CREATE TABLE claudikins.workspaces (
  id TEXT COLLATE "C" PRIMARY KEY,
  config TEXT NOT NULL,
  person TEXT COLLATE "C",
  version DOUBLE PRECISION NOT NULL,
  cleared_at DOUBLE PRECISION
);
CREATE INDEX workspaces_of_people ON claudikins.workspaces (config, person) WHERE person IS NOT NULL;

-- Files, folders, and what was removed lately.
CREATE TABLE claudikins.files (
  workspace TEXT COLLATE "C" NOT NULL REFERENCES claudikins.workspaces (id) ON DELETE CASCADE,
  path TEXT COLLATE "C" NOT NULL,
  version DOUBLE PRECISION NOT NULL,
  kind TEXT NOT NULL,
  size DOUBLE PRECISION NOT NULL,
  sha256 TEXT,
  content TEXT COLLATE "C",
  changed_at DOUBLE PRECISION NOT NULL,
  PRIMARY KEY (workspace, path)
);
CREATE INDEX files_by_version ON claudikins.files (workspace, version);
CREATE INDEX files_by_content ON claudikins.files (content) WHERE content IS NOT NULL;
CREATE INDEX removed_files ON claudikins.files (changed_at) WHERE kind = 'removed';

-- The contents of files. One without a file is being stored, or its process has died.
CREATE TABLE claudikins.file_parts (
  content TEXT COLLATE "C" NOT NULL,
  part INTEGER NOT NULL,
  bytes BYTEA NOT NULL,
  added_at TIMESTAMPTZ NOT NULL DEFAULT now(),
  PRIMARY KEY (content, part)
);`;

/** Tables that only several machines need and that databases of earlier versions lack, by name. A new database gets them in the same way. */
const laterTablesOfTeams = { ...objectTables, object_pages: `${objectTables.object_pages}${objectPagesCounting}` };

/** The first version with `pg_xact_status` and `pg_current_xact_id`. */
const oldestServer = 130_000;

/** The lock of a process that makes the schema, a number that nothing else in the database should use: "claudiki" in hexadecimal. */
const lock = "x'636c617564696b69'::bigint";

/** Takes a lock until the end of the transaction. False if another process has it. */
export async function tryLock(name: string, querying: Querying): Promise<boolean> {
  const statement = "SELECT pg_try_advisory_xact_lock(hashtextextended($name, 0)) AS taken";
  return (await querying.get<{ taken: boolean }>(statement, { name }))?.taken === true;
}

/** Waits for a lock, and keeps it until the end of the transaction. */
export async function lockFor(name: string, querying: Querying): Promise<void> {
  await querying.run("SELECT pg_advisory_xact_lock(hashtextextended($name, 0))", { name });
}

interface Schema {
  version: number;
  /** The version that a program must know to use it. */
  oldest: number;
}

/** Throws DATABASE_UNAVAILABLE, and VERSION_TOO_OLD if a newer claudikins has changed the schema. */
export async function migrate(connections: Connections): Promise<void> {
  const isWhole = await connections.unprepared(async (querying) => {
    await requireFit(querying);
    if (!isUsable(await schemaOf(querying))) return false;
    return (await missingTables(querying)) === "" && (await isCounted(querying));
  });
  if (isWhole) return;
  await connections.unpreparedTransaction(async (querying) => {
    await querying.run(`SELECT pg_advisory_xact_lock(${lock})`);
    if (!isUsable(await schemaOf(querying))) await makeSchema(querying);
    const missing = await missingTables(querying);
    if (missing !== "") await querying.script(missing);
    if (!(await isCounted(querying))) await beginCounting(querying);
  });
}

/** Whether a newer claudikins has changed the schema in a way that this one does not understand. */
export async function isTooNew(connections: Connections): Promise<boolean> {
  const found = await connections.unprepared(schemaOf);
  return (found?.oldest ?? 0) > schemaVersion;
}

/** The statements for what a schema of an earlier version lacks. Earlier versions do not see what they add. */
async function missingTables(querying: Querying): Promise<string> {
  const found = await querying.all<{ name: string }>(
    `SELECT relname AS name FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
     WHERE nspname = 'claudikins' AND relname IN (SELECT value FROM texts($names))`,
    { names: [...Object.keys(laterTables), ...Object.keys(laterTablesOfTeams)] },
  );
  const names = found.map(({ name }) => name);
  const ofTeams = Object.entries(laterTablesOfTeams).filter(([name]) => !names.includes(name));
  return [missingTablesFor(words, names), ...ofTeams.map(([, statements]) => inWords(statements, words))]
    .join("")
    .trim();
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
