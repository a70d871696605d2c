/** The messages of the view System: the version, the daemons, the secrets and the audit log of the user. */

/** The answer to `GET api/version`, and to `POST api/version/check`, which asks the server of releases. */
export interface PageVersion {
  version: string;
  /** How this executable was installed, as a sentence. */
  installed: string;
  path: string;
  /** What the last check has found. Undefined if there was none. */
  newest?: { version: string; isNewer: boolean; checkedAt: number } | undefined;
  /** The command that installs the newest version. Undefined if it is this one. */
  command?: string | undefined;
}

/** The answer to `GET api/daemons`. */
export interface PageDaemons {
  running: PageDaemon[];
  silent: PageSilentDaemon[];
}

export interface PageDaemon {
  pid: number;
  version: string;
  /** For people: the home folder is shown as ~. */
  config: string;
  startedAt: number;
  /** Undefined for daemons of earlier versions. */
  memoryBytes?: number | undefined;
  calls: { running: number; done: number };
  /** The processes of servers that it keeps. */
  servers: { name: string; pid: number | null }[];
  /** Whether a page is open in it. */
  hasPage: boolean;
  /** Whether it serves this page. */
  isOwn: boolean;
}

/** A daemon that runs and does not answer. */
export interface PageSilentDaemon {
  /** Undefined: nobody knows its process, so it cannot be ended here. */
  pid?: number | undefined;
  config?: string | undefined;
  /** The path of its log. */
  log: string;
}

/** The answer to `POST api/daemons/stop`. */
export interface PageStopped {
  /** Whether the process is gone. Otherwise it ends when its calls are done. */
  isOver: boolean;
  calls: number;
}

/** The answer to `GET api/secrets`. Values never leave the server. */
export interface PageSecrets {
  secrets: PageSecret[];
  /** The file with the names, and with the values that no keychain keeps. */
  file: string;
}

export interface PageSecret {
  name: string;
  /** Null: it is not set. */
  place: "keychain" | "file" | null;
  setAt?: number | undefined;
  /** The servers that use it. Another part of a config is called by its key. */
  users: string[];
}

/** The answer to `POST api/secrets/set`. */
export interface PageSecretSet {
  /** The place of the value, for people. */
  where: string;
  note?: string | undefined;
}

/** The answer to `POST api/secrets/remove`. */
export interface PageSecretRemoved {
  note?: string | undefined;
}

/** The answer to `GET api/audit`: the newest entries, newest first. */
export interface PageAudit {
  entries: PageAuditEntry[];
  hasMore: boolean;
  /** All words by which entries can be chosen. */
  decisions: readonly string[];
}

export interface PageAuditEntry {
  entry: number;
  at: number;
  decision: string;
  /** The end of the sentence that begins with the decision, such as "for the session". Empty for most entries. */
  scope: string;
  about: string;
  by: string;
  place?: string | undefined;
  /** The execution that it is about. */
  execution?: string | undefined;
  facts: { name: string; value: string }[];
}

/** The answer to `GET api/audit/verify`. */
export interface PageAuditCheck {
  /** The number of entries up to the first problem. */
  entries: number;
  sha256: string;
  problem?: string | undefined;
  notes: string[];
  /** Whether the given hash was found. Undefined if none was given. */
  contains?: boolean | undefined;
}
