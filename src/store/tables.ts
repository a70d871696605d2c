/** The tables that both databases have. Each translates the words for types: `ID`, `NUMBER`, `FLAG`, `BYTES` and `PLACE`. */

/** The number of the schema. A database of a higher one was changed by a newer claudikins. */
export const schemaVersion = 1;

/** The words for types, and what a database has in their places. */
export interface TypeWords {
  /** A text that sorts by its bytes. */
  ID: string;
  /** Any number of JavaScript. Times are in milliseconds since 1970. */
  NUMBER: string;
  FLAG: string;
  BYTES: string;
  /** A number that grows from row to row. */
  PLACE: string;
  /** Parts of a table by the column `at`, one for each day. */
  BY_DAY: string;
}

export function tablesFor(words: TypeWords): string {
  return inWords([tables, ...Object.values(laterTables)].join("\n"), words);
}

/** The statements for tables of `laterTables` that a database of an earlier version lacks. */
export function missingTablesFor(words: TypeWords, found: readonly string[]): string {
  const missing = Object.entries(laterTables).filter(([name]) => !found.includes(name));
  return inWords(missing.map(([, statements]) => statements).join("\n"), words);
}

/** Translates the words for types. */
export function inWords(statements: string, words: TypeWords): string {
  return statements.replace(/\b(?:ID|NUMBER|FLAG|BYTES|PLACE|BY_DAY)\b/g, (word) => words[word as keyof TypeWords]);
}

/** Tables that databases of earlier versions lack, by name. They are added when such a database is opened. */
export const laterTables = {
  call_log: `
-- The call log, see call-log.ts.
CREATE TABLE claudikins.call_log (
  id ID NOT NULL,
  at NUMBER NOT NULL,
  config TEXT,
  door TEXT,
  person TEXT,
  person_name TEXT,
  token TEXT,
  agent TEXT,
  started_by TEXT NOT NULL,
  execution ID,
  call INTEGER,
  program TEXT,
  server TEXT NOT NULL,
  tool TEXT NOT NULL,
  outcome TEXT NOT NULL,
  code TEXT,
  duration_ms NUMBER NOT NULL,
  waited_ms NUMBER NOT NULL,
  argument_bytes NUMBER NOT NULL,
  result_bytes NUMBER NOT NULL,
  sent INTEGER NOT NULL,
  approval TEXT,
  approval_id TEXT,
  labels TEXT,
  PRIMARY KEY (at, id)
) BY_DAY;
CREATE INDEX calls_of_person ON claudikins.call_log (person, at) WHERE person IS NOT NULL;
CREATE INDEX calls_of_execution ON claudikins.call_log (execution) WHERE execution IS NOT NULL;
`,
  deliveries: `
-- The events that start saved programs, see deliveries.ts. \`labels\` and \`payload\` are JSON.
CREATE TABLE claudikins.deliveries (
  id ID PRIMARY KEY,
  place TEXT NOT NULL,
  trigger_id ID NOT NULL,
  program TEXT NOT NULL,
  event ID NOT NULL,
  state TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  at NUMBER NOT NULL,
  next_at NUMBER NOT NULL,
  claimed_at NUMBER,
  ended_at NUMBER,
  execution ID,
  message TEXT,
  depth INTEGER NOT NULL,
  labels TEXT NOT NULL,
  payload TEXT NOT NULL,
  UNIQUE (place, trigger_id, event)
);
CREATE INDEX due_deliveries ON claudikins.deliveries (place, trigger_id, state, next_at) WHERE state <> 'done';
CREATE INDEX deliveries_of_execution ON claudikins.deliveries (execution) WHERE execution IS NOT NULL;
`,
  denials: `
-- The reasons of denied approvals, for the programs. A row goes with its approval.
CREATE TABLE claudikins.denials (
  approval ID PRIMARY KEY,
  reason TEXT NOT NULL
);
`,
  sign_outs: `
-- The people who have signed out at the provider, see people.ts. \`told_at\` is by our clock.
CREATE TABLE claudikins.sign_outs (
  config TEXT NOT NULL,
  id ID NOT NULL,
  session TEXT NOT NULL,
  at NUMBER NOT NULL,
  told_at NUMBER NOT NULL,
  PRIMARY KEY (config, id, session)
);
CREATE INDEX sign_outs_by_time ON claudikins.sign_outs (told_at);
`,
  directory: `
-- The users and groups that a directory sends over SCIM, see directory.ts. \`key\` is the name in lower case, and \`json\` has the attributes.
CREATE TABLE claudikins.directory (
  config TEXT NOT NULL,
  kind TEXT NOT NULL,
  id ID NOT NULL,
  key TEXT NOT NULL,
  external_id TEXT,
  is_active FLAG NOT NULL,
  person ID,
  created_at NUMBER NOT NULL,
  changed_at NUMBER NOT NULL,
  json TEXT NOT NULL,
  PRIMARY KEY (config, kind, id),
  UNIQUE (config, kind, key)
);
CREATE INDEX directory_by_external_id ON claudikins.directory (config, kind, external_id) WHERE external_id IS NOT NULL;
`,
  directory_members: `
CREATE TABLE claudikins.directory_members (
  config TEXT NOT NULL,
  team ID NOT NULL,
  member ID NOT NULL,
  PRIMARY KEY (config, team, member)
);
CREATE INDEX teams_of_member ON claudikins.directory_members (config, member);
`,
  activity: `
-- What lists of executions select records by, see activity.ts.
CREATE TABLE claudikins.activity (
  id ID PRIMARY KEY REFERENCES claudikins.records (id) ON DELETE CASCADE,
  at NUMBER NOT NULL,
  config TEXT,
  door TEXT,
  person TEXT,
  agent TEXT,
  program TEXT,
  state TEXT NOT NULL,
  tools TEXT NOT NULL,
  words TEXT NOT NULL
);
CREATE INDEX activity_of_config ON claudikins.activity (config, id);
CREATE INDEX records_kept ON claudikins.records (id, at, bytes);
`,
} as const;

const tables = `
-- \`claims\` counts how often an execution was claimed. Together with the owner it names a claim. A large outcome has its value apart.
CREATE TABLE claudikins.executions (
  id ID PRIMARY KEY,
  config TEXT,
  state TEXT NOT NULL,
  owner TEXT,
  claims INTEGER NOT NULL,
  started_at NUMBER NOT NULL,
  changed_at NUMBER NOT NULL,
  wake_at NUMBER,
  is_cancelled FLAG NOT NULL DEFAULT FALSE,
  is_wanted FLAG NOT NULL DEFAULT FALSE,
  is_ok FLAG NOT NULL DEFAULT FALSE,
  engine TEXT,
  client TEXT,
  unsaved TEXT,
  program BYTES,
  request TEXT NOT NULL,
  outcome TEXT,
  value TEXT
);
CREATE INDEX executions_of_config ON claudikins.executions (config, state, started_at);
CREATE INDEX executions_by_start ON claudikins.executions (config, started_at);
CREATE INDEX executions_of_owner ON claudikins.executions (owner) WHERE state = 'open';

-- A message and an answer are JSON. The largest text of each may be apart.
CREATE TABLE claudikins.calls (
  execution ID NOT NULL REFERENCES claudikins.executions (id) ON DELETE CASCADE,
  call INTEGER NOT NULL,
  state TEXT NOT NULL,
  is_repeatable FLAG NOT NULL,
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
  execution ID NOT NULL,
  page INTEGER NOT NULL,
  version INTEGER NOT NULL,
  bytes BYTES NOT NULL,
  PRIMARY KEY (execution, page, version)
);

-- An execution is stored with or after its first image. Until then, this names the process that writes it.
CREATE TABLE claudikins.saving (
  execution ID PRIMARY KEY,
  owner TEXT NOT NULL
);

-- \`args\` are the arguments of an open call, and NULL afterwards. They stand last, so that lists do not read them.
CREATE TABLE claudikins.approvals (
  place PLACE,
  id ID NOT NULL UNIQUE,
  config TEXT,
  door TEXT,
  person TEXT,
  person_name TEXT,
  execution ID NOT NULL,
  call INTEGER NOT NULL,
  owner TEXT NOT NULL,
  line INTEGER,
  code TEXT,
  server TEXT NOT NULL,
  tool TEXT NOT NULL,
  excerpt TEXT NOT NULL,
  args_chars INTEGER NOT NULL,
  args_bytes INTEGER NOT NULL,
  why TEXT NOT NULL,
  told TEXT NOT NULL,
  changed TEXT,
  bound TEXT NOT NULL,
  state TEXT NOT NULL,
  scope TEXT,
  asked_at NUMBER NOT NULL,
  expires_at NUMBER NOT NULL,
  decided_at NUMBER,
  decided_by TEXT,
  args TEXT
);
CREATE INDEX open_approvals ON claudikins.approvals (expires_at) WHERE state = 'open';
CREATE INDEX approvals_of_execution ON claudikins.approvals (execution, call);
CREATE INDEX decided_approvals ON claudikins.approvals (config, decided_at) WHERE state <> 'open';
CREATE INDEX approvals_by_decision ON claudikins.approvals (decided_at);

-- The audit log. \`sha256\` is the hash of the line, which the next line has too. \`audit_end\` has the place of the last line.
CREATE TABLE claudikins.audit (
  place INTEGER PRIMARY KEY,
  line TEXT NOT NULL,
  sha256 TEXT NOT NULL
);
CREATE TABLE claudikins.audit_end (
  place INTEGER NOT NULL
);
INSERT INTO claudikins.audit_end VALUES (0);

-- The records of executions. \`summary\` is for lists.
CREATE TABLE claudikins.records (
  id ID PRIMARY KEY,
  at NUMBER NOT NULL,
  bytes INTEGER NOT NULL,
  summary TEXT NOT NULL,
  rest TEXT NOT NULL
);

-- The ledger: rows of writes have \`at\`, in seconds, and sums have their day, month or year as \`period\`.
CREATE TABLE claudikins.counts (
  place PLACE,
  at NUMBER,
  period TEXT,
  json TEXT NOT NULL
);

-- The people who have signed in to serve --http. \`doors\` is JSON.
CREATE TABLE claudikins.people (
  config TEXT NOT NULL,
  id ID NOT NULL,
  issuer TEXT NOT NULL,
  subject TEXT NOT NULL,
  name TEXT NOT NULL,
  email TEXT,
  doors TEXT NOT NULL,
  first_at NUMBER NOT NULL,
  last_at NUMBER NOT NULL,
  revoked_at NUMBER,
  PRIMARY KEY (config, id)
);

-- The groups in the token of each person that was issued last. \`groups\` is JSON.
CREATE TABLE claudikins.newest_groups (
  config TEXT NOT NULL,
  id ID NOT NULL,
  issued_at NUMBER NOT NULL,
  groups TEXT NOT NULL,
  PRIMARY KEY (config, id)
);
CREATE INDEX newest_groups_by_time ON claudikins.newest_groups (issued_at);

-- The labels of what was read.
CREATE TABLE claudikins.labels (
  holder ID NOT NULL,
  label TEXT NOT NULL,
  source TEXT NOT NULL,
  at NUMBER NOT NULL,
  PRIMARY KEY (holder, label, source)
);

-- How much of each quota was used, in a time span.
CREATE TABLE claudikins.quota_uses (
  key ID NOT NULL,
  from_at NUMBER NOT NULL,
  to_at NUMBER NOT NULL,
  amount NUMBER NOT NULL,
  PRIMARY KEY (key, from_at)
);
`;
