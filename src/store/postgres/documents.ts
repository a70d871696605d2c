/**
 * Documents as rows. Each process has those in memory that it reads, and hears of changes. Credentials of people are read when they are asked
 * for: everybody may have some.
 */
import { basename, dirname, join, relative, sep } from "node:path";
import type { DocumentChanges, DocumentLock, Documents } from "../../base/documents.ts";
import { ClaudikinsError } from "../../base/errors.ts";
import { lockWaitMs } from "../../base/limits.ts";
import { databaseOf } from "../../config/database.ts";
import type { Environment } from "../../config/environment.ts";
import { peopleFolder, userDataFolder } from "../../config/locations.ts";
import { Changes } from "./changes.ts";
import { Connections } from "./connections.ts";
import { unavailable } from "./errors.ts";
import { type Querying, tellOnCommit } from "./querying.ts";
import { migrate } from "./schema.ts";

/** Connections of one process for documents, besides the one that waits for changes. */
const maxDocumentConnections = 2;

/** A process that does not renew its lock for documents for this long has lost it. */
const documentLockMs = 10_000;

/** How often a lock for documents is renewed. */
const documentLockRenewedMs = 3_000;

interface Row {
  text: string;
  version: string;
}

/** Where a document is, below the data folder. */
interface Place {
  folder: string;
  name: string;
}

/** Null removes the document. */
type Change = Place & { text: string | null };

export class PostgresDocuments implements Documents, AsyncDisposable {
  readonly areFiles = false;
  readonly #env: Environment;
  readonly #data: string;
  readonly #people: string;
  #opened: { connections: Connections; changes: Changes } | undefined;
  /** By folder and name. Undefined until the documents that everybody needs were read. */
  #rows: Map<string, Map<string, Row>> | undefined;
  /** The folders of people that were asked for, and when each is read. */
  readonly #asked = new Map<string, Promise<void>>();
  /** The last reading. Each begins after the one before it, so that an older state never replaces a newer one. */
  #reading: Promise<void> = Promise.resolve();
  /** Those that have not begun, by their folders. */
  readonly #waiting = new Map<string, Promise<void>>();
  #closings = 0;
  #problem: unknown;

  /** Nothing is opened before the first method needs it. */
  constructor(env: Environment) {
    this.#env = env;
    this.#data = userDataFolder(env);
    this.#people = this.#below(peopleFolder(env));
  }

  get areKnown(): boolean {
    return this.#rows !== undefined;
  }

  async ready(folders: readonly string[] = []): Promise<void> {
    const people = folders.map((folder) => this.#below(folder)).filter((folder) => this.#isOfPeople(folder));
    const missing = people.filter((folder) => !this.#asked.has(folder));
    if (!this.#rows || missing.length > 0) {
      const reading = this.#read(missing.length === 1 ? missing[0] : undefined);
      for (const folder of missing) this.#asked.set(folder, reading);
      await reading.catch((error: unknown) => {
        for (const folder of missing) this.#asked.delete(folder);
        throw error;
      });
    }
    await Promise.all(people.map((folder) => this.#asked.get(folder)));
  }

  read(file: string): string | undefined {
    return this.#found(file)?.text;
  }

  namesIn(folder: string): string[] {
    return [...(this.#known().get(this.#below(folder))?.keys() ?? [])].sort();
  }

  stampOf(path: string): string {
    if (!this.#rows) return "";
    const row = this.#found(path);
    if (row) return row.version;
    return [...(this.#rows.get(this.#below(path)) ?? [])].map(([name, { version }]) => `${name} ${version}`).join("\n");
  }

  async alone<T>(
    { folder, lock, ...asked }: DocumentLock,
    work: (changes: DocumentChanges) => T | Promise<T>,
  ): Promise<T> {
    await using held = await HeldLock.take(this.#below(lock), asked, this.#open().connections);
    await this.ready([folder]);
    await this.#read(this.#below(folder));
    const changed = new Map<string, Change>();
    const done = await work(this.#changesIn(changed));
    await this.#write([...changed.values()], held);
    return done;
  }

  async removeFolder(folder: string): Promise<void> {
    const below = this.#below(folder);
    await this.#open().connections.transaction(async (querying) => {
      // A process that changes them at this moment has written before, or cannot write any more.
      const locks = "DELETE FROM claudikins.document_locks WHERE starts_with(name, $within)";
      await querying.run(locks, { within: `${below}/` });
      await querying.run("DELETE FROM claudikins.documents WHERE folder = $below", { below });
      await tellOnCommit(querying, "claudikins_documents", below);
    });
    if (this.#rows) await this.#read(below);
  }

  /** A later call opens it again. */
  async [Symbol.asyncDispose](): Promise<void> {
    const opened = this.#opened;
    this.#closings += 1;
    this.#opened = undefined;
    this.#rows = undefined;
    this.#asked.clear();
    this.#waiting.clear();
    await opened?.changes[Symbol.asyncDispose]();
    await opened?.connections[Symbol.asyncDispose]();
  }

  /** Throws CONFIG_INVALID and FILE_NOT_FOUND if the environment names no database that can be. */
  #open(): { connections: Connections; changes: Changes } {
    if (!this.#opened) {
      const connections = new Connections(databaseOf(this.#env) ?? "", migrate, maxDocumentConnections);
      this.#opened = { connections, changes: new Changes(connections, "claudikins_documents") };
    }
    return this.#opened;
  }

  /** What cannot be read when it has changed is read with the next change, or after a while. */
  readonly #hear = (folder: string) => void this.#read(folder === "" ? undefined : folder).catch(() => {});

  /** Reads the documents that have changed, in one folder or everywhere. What calls ask for at the same time is read once. */
  #read(folder?: string): Promise<void> {
    const key = folder ?? "everywhere";
    const waiting = this.#waiting.get(key);
    if (waiting) return waiting;
    const closings = this.#closings;
    const reading = this.#reading.then(async () => {
      this.#waiting.delete(key);
      if (closings !== this.#closings) return;
      try {
        await this.#readNow(this.#rows ? folder : undefined);
        this.#problem = undefined;
      } catch (error) {
        this.#problem = error;
        throw error;
      }
    });
    this.#waiting.set(key, reading);
    this.#reading = reading.catch(() => {});
    return reading;
  }

  async #readNow(folder: string | undefined): Promise<void> {
    if (folder !== undefined && this.#isOfPeople(folder) && !this.#asked.has(folder)) return;
    const opened = this.#open();
    opened.changes.listen(this.#hear);
    const known = this.#rows ?? new Map<string, Map<string, Row>>();
    const found = await opened.connections.each(async (querying) => {
      const versions = await this.#versions(folder, querying);
      const changed = versions.filter((each) => known.get(each.folder)?.get(each.name)?.version !== each.version);
      return { versions, texts: changed.length === 0 ? [] : await textsOf(changed, querying) };
    });
    // Closed meanwhile.
    if (opened !== this.#opened) return;
    const texts = new Map(found.texts.map(({ folder, name, ...row }) => [join(folder, name), row]));
    const rows = new Map(folder === undefined ? [] : known);
    if (folder !== undefined) rows.delete(folder);
    for (const { folder, name } of found.versions) {
      const row = texts.get(join(folder, name)) ?? known.get(folder)?.get(name);
      // Undefined if it was removed at this moment.
      if (row) rows.getOrInsertComputed(folder, () => new Map()).set(name, row);
    }
    this.#rows = rows;
  }

  #versions(folder: string | undefined, querying: Querying): Promise<(Place & Pick<Row, "version">)[]> {
    const columns = "SELECT folder, name, version FROM claudikins.documents";
    if (folder !== undefined) return querying.all(`${columns} WHERE folder = $folder`, { folder });
    return querying.all(
      `${columns} WHERE NOT starts_with(folder, $people)
         OR folder IN (SELECT value FROM texts($asked))`,
      { people: `${this.#people}/`, asked: [...this.#asked.keys()] },
    );
  }

  async #write(changed: readonly Change[], held: HeldLock): Promise<void> {
    if (changed.length === 0) return;
    const folders = new Set(changed.map(({ folder }) => folder));
    await this.#open().connections.transaction(async (querying) => {
      await held.confirm(querying);
      for (const { text, ...place } of changed) {
        if (text === null) {
          await querying.run("DELETE FROM claudikins.documents WHERE folder = $folder AND name = $name", { ...place });
          continue;
        }
        await querying.run(
          `INSERT INTO claudikins.documents (folder, name, text, version)
           VALUES ($folder, $name, $text, pg_current_xact_id()::text)
           ON CONFLICT (folder, name) DO UPDATE SET text = excluded.text, version = excluded.version`,
          { ...place, text },
        );
      }
      for (const folder of folders) await tellOnCommit(querying, "claudikins_documents", folder);
    });
    // It is written, even if it cannot be read now.
    for (const folder of folders) await this.#read(folder).catch(() => {});
  }

  #changesIn(changed: Map<string, Change>): DocumentChanges {
    const set = (file: string, text: string | null) => {
      const place = this.#placeOf(file);
      changed.set(join(place.folder, place.name), { ...place, text });
    };
    return {
      write: set,
      writeSecret: set,
      rename: (file, to) => {
        set(to, this.read(file) ?? "");
        set(file, null);
      },
      remove: (file) => set(file, null),
    };
  }

  #known(): Map<string, Map<string, Row>> {
    if (this.#rows) return this.#rows;
    // Perhaps it can be reached now. What was closed stays closed.
    if (this.#opened) void this.#read().catch(() => {});
    throw this.#problem instanceof ClaudikinsError
      ? this.#problem
      : unavailable("The database was not reached yet", "Try again, and check whether the database runs.");
  }

  #found(file: string): Row | undefined {
    const { folder, name } = this.#placeOf(file);
    return this.#known().get(folder)?.get(name);
  }

  #placeOf(file: string): Place {
    return { folder: this.#below(dirname(file)), name: basename(file) };
  }

  /** The path below the data folder, which is the same on all machines. The data folder itself is "". */
  #below(path: string): string {
    return relative(this.#data, path).replaceAll(sep, "/");
  }

  #isOfPeople(folder: string): boolean {
    return folder.startsWith(`${this.#people}/`);
  }
}

function textsOf(places: readonly Place[], querying: Querying): Promise<(Place & Row)[]> {
  return querying.all(
    `SELECT documents.folder, documents.name, text, version FROM claudikins.documents
     JOIN json_to_recordset($places::text::json) AS wanted (folder TEXT, name TEXT)
       ON documents.folder = wanted.folder AND documents.name = wanted.name`,
    { places: places.map(({ folder, name }) => ({ folder, name })) },
  );
}

/** Only the clock of the database counts. */
const expiry = `clock_timestamp() + interval '${documentLockMs} milliseconds'`;

/** A lock for documents, which one process of a team has. It holds as long as the process renews it. */
class HeldLock implements AsyncDisposable {
  readonly #connections: Connections;
  readonly #key: { name: string; holder: string };
  readonly #what: string;
  readonly #timer: NodeJS.Timeout;

  private constructor(connections: Connections, key: { name: string; holder: string }, what: string) {
    this.#connections = connections;
    this.#key = key;
    this.#what = what;
    // A renewal that fails is made up for by the next one.
    this.#timer = setInterval(() => void this.#renew().catch(() => {}), documentLockRenewedMs).unref();
  }

  /** Waits until the lock of that name is free. Throws CALL_TIMEOUT and DATABASE_UNAVAILABLE. */
  static async take(
    name: string,
    { what, waitMs = lockWaitMs }: Pick<DocumentLock, "what" | "waitMs">,
    connections: Connections,
  ): Promise<HeldLock> {
    const key = { name, holder: crypto.randomUUID() };
    for (const deadline = performance.now() + waitMs; ; await Bun.sleep(20 + Math.random() * 30)) {
      const taken = await connections.each((querying) =>
        querying.run(
          `INSERT INTO claudikins.document_locks AS held (name, holder, expires_at) VALUES ($name, $holder, ${expiry})
           ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at
           WHERE held.expires_at < clock_timestamp() OR held.holder = excluded.holder`,
          key,
        ),
      );
      if (taken > 0) return new HeldLock(connections, key, what);
      if (performance.now() > deadline) throw lost(what);
    }
  }

  /** Lets nobody else take the lock until the end of the transaction. Throws CALL_TIMEOUT if somebody has. */
  async confirm(querying: Querying): Promise<void> {
    const statement =
      "SELECT 1 AS one FROM claudikins.document_locks WHERE name = $name AND holder = $holder FOR UPDATE";
    if (!(await querying.get(statement, this.#key))) throw lost(this.#what);
  }

  async #renew(): Promise<void> {
    const statement = `UPDATE claudikins.document_locks SET expires_at = ${expiry} WHERE name = $name AND holder = $holder`;
    await this.#connections.each((querying) => querying.run(statement, this.#key));
  }

  /** Without the database, the lock ends by itself. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    const statement = "DELETE FROM claudikins.document_locks WHERE name = $name AND holder = $holder";
    await this.#connections.once((querying) => querying.run(statement, this.#key)).catch(() => {});
  }
}

function lost(what: string): ClaudikinsError {
  return new ClaudikinsError("CALL_TIMEOUT", `Another claudikins has locked ${what} for too long`, {
    hint: "Try again, or stop the other one.",
  });
}
