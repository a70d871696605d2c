/**
 * The schema of the database, as the steps that have led to it. A step is never changed, and only adds: the release before runs beside the
 * new one while replicas are replaced. What no program needs any more is removed by a step of a later release, whose `oldest` says so.
 */

interface Step {
  statements: string;
  /** The number of steps that a program must know to use a database with this one. */
  oldest: number;
}

/** Numbers and times are DOUBLE PRECISION, which has every whole number of JavaScript. Times are in milliseconds since 1970. */
export const steps: readonly Step[] = [
  {
    oldest: 1,
    statements: `
-- The processes that run executions or wait for approvals, each until its lease ends.
CREATE TABLE claudikins.owners (
  name TEXT PRIMARY KEY,
  expires_at TIMESTAMPTZ NOT NULL
);

-- \`claims\` counts how often an execution was claimed. Together with the owner it names a claim.
CREATE TABLE claudikins.executions (
  id TEXT COLLATE "C" PRIMARY KEY,
  config TEXT,
  state TEXT NOT NULL,
  owner TEXT,
  claims INTEGER NOT NULL,
  started_at DOUBLE PRECISION NOT NULL,
  changed_at DOUBLE PRECISION NOT NULL,
  wake_at DOUBLE PRECISION,
  is_cancelled BOOLEAN NOT NULL DEFAULT FALSE,
  is_wanted BOOLEAN NOT NULL DEFAULT FALSE,
  engine TEXT,
  request TEXT NOT NULL,
  client TEXT,
  program BYTEA,
  unsaved TEXT,
  is_ok BOOLEAN NOT NULL DEFAULT FALSE,
  outcome TEXT,
  value TEXT
);
CREATE INDEX executions_of_config ON claudikins.executions (config, state, started_at);
CREATE INDEX executions_of_owner ON claudikins.executions (owner) WHERE state = 'open';

-- A message and an answer are JSON. The largest text of each is apart, see texts.ts.
CREATE TABLE claudikins.calls (
  execution TEXT COLLATE "C" NOT NULL REFERENCES claudikins.executions (id) ON DELETE CASCADE,
  call INTEGER NOT NULL,
  state TEXT NOT NULL,
  repeatable BOOLEAN NOT NULL,
  namespace TEXT,
  "group" TEXT,
  name TEXT,
  line INTEGER,
  message TEXT NOT NULL,
  message_text_name TEXT,
  message_text TEXT,
  answer TEXT,
  answer_text_name TEXT,
  answer_text TEXT,
  PRIMARY KEY (execution, call)
);

-- The pages of images, and records. They are compressed already.
CREATE TABLE claudikins.pages (
  execution TEXT COLLATE "C" NOT NULL,
  page INTEGER NOT NULL,
  version INTEGER NOT NULL,
  bytes BYTEA NOT NULL,
  PRIMARY KEY (execution, page, version)
);
ALTER TABLE claudikins.pages ALTER COLUMN bytes SET STORAGE EXTERNAL;

-- An execution is stored with or after its first image. Until then, this names the process that writes it.
CREATE TABLE claudikins.saving (
  execution TEXT COLLATE "C" PRIMARY KEY,
  owner TEXT NOT NULL
);

-- \`args\` are the arguments of an open call, and NULL afterwards.
CREATE TABLE claudikins.approvals (
  place BIGINT GENERATED ALWAYS AS IDENTITY,
  id TEXT PRIMARY KEY,
  config TEXT,
  door TEXT,
  person TEXT,
  person_name TEXT,
  execution TEXT COLLATE "C" NOT NULL,
  call INTEGER NOT NULL,
  owner TEXT NOT NULL,
  line INTEGER,
  code TEXT,
  server TEXT NOT NULL,
  tool TEXT NOT NULL,
  excerpt TEXT NOT NULL,
  args_chars INTEGER NOT NULL,
  args_bytes INTEGER NOT NULL,
  args TEXT,
  why TEXT NOT NULL,
  changed TEXT,
  bound TEXT NOT NULL,
  state TEXT NOT NULL,
  scope TEXT,
  asked_at DOUBLE PRECISION NOT NULL,
  expires_at DOUBLE PRECISION NOT NULL,
  decided_at DOUBLE PRECISION,
  decided_by TEXT
);
CREATE INDEX open_approvals ON claudikins.approvals (expires_at) WHERE state = 'open';
CREATE INDEX approvals_of_execution ON claudikins.approvals (execution, call);
CREATE INDEX decided_approvals ON claudikins.approvals (config, decided_at) WHERE state <> 'open';

-- The audit log. \`sha256\` is the hash of the line, which the next line has too. \`audit_end\` has the place of the last line.
CREATE TABLE claudikins.audit (
  place INTEGER PRIMARY KEY,
  line TEXT NOT NULL,
  sha256 TEXT NOT NULL
);
CREATE TABLE claudikins.audit_end (place INTEGER NOT NULL);
INSERT INTO claudikins.audit_end VALUES (0);
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

-- The records of executions. \`summary\` is for lists.
CREATE TABLE claudikins.records (
  id TEXT COLLATE "C" PRIMARY KEY,
  at DOUBLE PRECISION NOT NULL,
  bytes INTEGER NOT NULL,
  summary TEXT NOT NULL,
  rest TEXT NOT NULL
);

-- The ledger: rows of writes have \`at\`, in seconds, and sums have their day, month or year as \`period\`.
CREATE TABLE claudikins.counts (
  place BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at DOUBLE PRECISION,
  period TEXT,
  json TEXT NOT NULL
);

-- The people who have signed in to serve --http. \`doors\` is JSON.
CREATE TABLE claudikins.people (
  config TEXT NOT NULL,
  id TEXT COLLATE "C" NOT NULL,
  issuer TEXT NOT NULL,
  subject TEXT NOT NULL,
  name TEXT NOT NULL,
  email TEXT,
  doors TEXT NOT NULL,
  first_at DOUBLE PRECISION NOT NULL,
  last_at DOUBLE PRECISION NOT NULL,
  revoked_at DOUBLE PRECISION,
  PRIMARY KEY (config, id)
);

-- The labels of what was read.
CREATE TABLE claudikins.labels (
  holder TEXT COLLATE "C" NOT NULL,
  label TEXT NOT NULL,
  source TEXT NOT NULL,
  at DOUBLE PRECISION NOT NULL,
  PRIMARY KEY (holder, label, source)
);

-- How much of each quota was used, in a time span.
CREATE TABLE claudikins.quota_uses (
  key TEXT COLLATE "C" NOT NULL,
  from_at DOUBLE PRECISION NOT NULL,
  to_at DOUBLE PRECISION NOT NULL,
  amount DOUBLE PRECISION NOT NULL,
  PRIMARY KEY (key, from_at)
);`,
  },
  {
    oldest: 1,
    statements: `
-- Finds the executions that are due and that no process runs, among many that wait.
CREATE INDEX due_executions ON claudikins.executions (coalesce(config, ''), coalesce(owner, ''), wake_at)
  WHERE state = 'open' AND unsaved IS NULL;`,
  },
  {
    oldest: 1,
    statements: `
-- The replica that has the lease, and its address.
ALTER TABLE claudikins.owners ADD COLUMN replica TEXT;
ALTER TABLE claudikins.owners ADD COLUMN url TEXT;

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
CREATE INDEX kept_values_by_place ON claudikins.kept_values (kind, place);`,
  },
  {
    oldest: 1,
    statements: `
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
);`,
  },
  {
    oldest: 1,
    statements: `
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
);`,
  },
  {
    oldest: 1,
    statements: `
-- The groups in the token of each person that was issued last. \`groups\` is JSON.
CREATE TABLE claudikins.newest_groups (
  config TEXT NOT NULL,
  id TEXT COLLATE "C" NOT NULL,
  issued_at DOUBLE PRECISION NOT NULL,
  groups TEXT NOT NULL,
  PRIMARY KEY (config, id)
);
CREATE INDEX newest_groups_by_time ON claudikins.newest_groups (issued_at);`,
  },
  {
    oldest: 1,
    statements: `
-- Why a person is asked, as the agent reads it.
ALTER TABLE claudikins.approvals ADD COLUMN told TEXT;`,
  },
];
