/** The schema of the database. What is only here is what several machines need. */
import { tablesFor } from "../tables.ts";

export const schema = `${tablesFor({
  ID: 'TEXT COLLATE "C"',
  NUMBER: "DOUBLE PRECISION",
  FLAG: "BOOLEAN",
  BYTES: "BYTEA",
  PLACE: "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
})}
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
