/** The users and groups that a company's directory keeps here over SCIM. */
import { all, type Database, first, run, tell, type Work } from "./work.ts";

export type DirectoryKind = "User" | "Group";

/** The attributes of a user or a group, without what the server adds. */
export interface DirectoryAttributes {
  /** `userName` or `displayName`: one for each kind, whatever its case. */
  name: string;
  externalId?: string | undefined;
  /** Only for users. A group is always active. */
  isActive: boolean;
  /** JSON. */
  json: string;
  /** Only for groups: the ids of users and groups. */
  members: string[];
}

/** Times are in milliseconds since 1970. */
export interface DirectoryEntry extends DirectoryAttributes {
  id: string;
  createdAt: number;
  changedAt: number;
  /** The person whose token was for this user. Null if the user was not here yet. */
  person: string | null;
}

/** Only one of these. Without any, all entries of the kind. */
export interface DirectoryFilter {
  id?: string | undefined;
  name?: string | undefined;
  externalId?: string | undefined;
}

/** A user of the directory, by an attribute that tokens have too. */
export interface DirectoryUser {
  id: string;
  person: string | null;
  isActive: boolean;
  /** The names of the user's groups, and of the groups in which these are. */
  groups: string[];
}

export interface DirectoryRows {
  /** Entries in the order in which they came, `count` from place `from`, which begins at 0. `withMembers` reads the members of groups. */
  list(
    config: string,
    kind: DirectoryKind,
    query: { filter: DirectoryFilter; from: number; count: number; withMembers: boolean },
  ): Promise<{ total: number; entries: DirectoryEntry[] }>;
  get(config: string, kind: DirectoryKind, id: string): Promise<DirectoryEntry | undefined>;
  /** Undefined if another entry has the name. */
  add(
    config: string,
    kind: DirectoryKind,
    attributes: DirectoryAttributes,
    id: string,
  ): Promise<DirectoryEntry | undefined>;
  /**
   * Changes an entry. `change` may be called again, and what it throws is thrown. Returns the entry before and after. "missing" if there is no
   * such entry, and "taken" if another one has the name.
   */
  change(
    config: string,
    kind: DirectoryKind,
    id: string,
    change: (entry: DirectoryEntry) => DirectoryAttributes,
  ): Promise<{ before: DirectoryEntry; after: DirectoryEntry } | "missing" | "taken">;
  /**
   * Returns the entry that was removed. Of a user whose person was here, the person and the value by which tokens name the user stay, so that the
   * person is known when the user comes back.
   */
  remove(config: string, kind: DirectoryKind, id: string): Promise<DirectoryEntry | undefined>;
  /** The person of a user who was removed and has come back, by the name or the external id. It is asked once. */
  comeBack(config: string, user: Pick<DirectoryEntry, "id" | "name" | "externalId">): Promise<string | undefined>;
  /** Forgets a person who was deleted. */
  forget(config: string, person: string): Promise<void>;
  /** The user with this value. `userName` is compared without case. */
  user(config: string, by: "externalId" | "userName", value: string): Promise<DirectoryUser | undefined>;
  /** Notes whose tokens are for a user. */
  known(config: string, user: string, person: string): Promise<void>;
}

interface Row {
  id: string;
  externalId: string | null;
  isActive: boolean;
  person: string | null;
  createdAt: number;
  changedAt: number;
  json: string;
  key: string;
}

/** Groups within groups that are followed. Directories rarely have more than three levels. */
const maxGroupLevels = 10;

const isEntry = "config = $config AND kind = $kind AND id = $id";
const isFormer = "config = $config AND kind = 'Former'";
const isTeam = "config = $config AND team = $id";

export function directoryRows(database: Database, now: () => number = Date.now): DirectoryRows {
  return {
    list: (config, kind, { filter, from, count, withMembers }) =>
      database.read(function* () {
        const { id, name, externalId } = filter;
        const values = { config, kind, id, key: name?.toLowerCase(), externalId };
        const meant =
          id !== undefined
            ? " AND id = $id"
            : name !== undefined
              ? " AND key = $key"
              : externalId !== undefined
                ? " AND external_id = $externalId"
                : "";
        const where = `FROM claudikins.directory WHERE config = $config AND kind = $kind${meant}`;
        const found = yield* first<{ total: number }>(`SELECT count(*) AS total ${where}`, values);
        const page = `SELECT * ${where} ORDER BY created_at, id LIMIT $count OFFSET $from`;
        const rows = yield* all<Row>(page, { ...values, from, count });
        const entries: DirectoryEntry[] = [];
        for (const row of rows) entries.push(yield* entryOf(config, kind, row, withMembers));
        return { total: Number(found?.total ?? 0), entries };
      }),
    get: (config, kind, id) => database.read(() => entryWith(config, kind, id)),
    add: (config, kind, attributes, id) =>
      database.write(function* () {
        const at = now();
        const entry = { ...attributes, id, createdAt: at, changedAt: at, person: null };
        const added = yield* run(
          `INSERT INTO claudikins.directory (config, kind, id, key, external_id, is_active, created_at, changed_at, json)
           VALUES ($config, $kind, $id, $key, $externalId, $isActive, $createdAt, $changedAt, $json) ON CONFLICT DO NOTHING`,
          valuesOf(config, kind, entry),
        );
        if (added === 0) return undefined;
        yield* setMembers(config, id, [], attributes.members);
        return entry;
      }),
    change: (config, kind, id, change) =>
      database.write(function* () {
        yield* all(`SELECT id FROM claudikins.directory WHERE ${isEntry} FOR UPDATE`, { config, kind, id });
        const before = yield* entryWith(config, kind, id);
        if (!before) return "missing";
        const after = { ...before, ...change(before), changedAt: now() };
        const values = valuesOf(config, kind, after);
        const others = "config = $config AND kind = $kind AND key = $key AND id <> $id";
        if (yield* first(`SELECT id FROM claudikins.directory WHERE ${others}`, values)) return "taken";
        yield* run(
          `UPDATE claudikins.directory SET key = $key, external_id = $externalId, is_active = $isActive, changed_at = $changedAt,
             json = $json WHERE ${isEntry}`,
          values,
        );
        yield* setMembers(config, id, before.members, after.members);
        yield* tell();
        return { before, after };
      }),
    remove: (config, kind, id) =>
      database.write(function* () {
        const entry = yield* entryWith(config, kind, id);
        if (!entry) return undefined;
        yield* run(`DELETE FROM claudikins.directory WHERE ${isEntry}`, { config, kind, id });
        if (entry.person !== null) {
          const former = { ...valuesOf(config, kind, entry), kind: "Former", json: "{}" };
          yield* run(`DELETE FROM claudikins.directory WHERE ${isFormer} AND key = $key`, former);
          yield* run(
            `INSERT INTO claudikins.directory (config, kind, id, key, external_id, is_active, person, created_at, changed_at, json)
             VALUES ($config, $kind, $id, $key, $externalId, FALSE, $person, $createdAt, $changedAt, $json)`,
            { ...former, person: entry.person },
          );
        }
        yield* run(`DELETE FROM claudikins.directory_members WHERE ${isTeam}`, { config, id });
        yield* run("DELETE FROM claudikins.directory_members WHERE config = $config AND member = $id", { config, id });
        yield* tell();
        return entry;
      }),
    comeBack: (config, { id, name, externalId }) =>
      database.write(function* () {
        const values = { config, id, key: name.toLowerCase(), externalId };
        const meant = `${isFormer} AND (key = $key OR external_id = $externalId)`;
        const row = yield* first<{ person: string }>(`SELECT person FROM claudikins.directory WHERE ${meant}`, values);
        if (!row) return undefined;
        yield* run(`DELETE FROM claudikins.directory WHERE ${meant}`, values);
        const own = "config = $config AND kind = 'User' AND id = $id";
        yield* run(`UPDATE claudikins.directory SET person = $person WHERE ${own}`, { ...values, ...row });
        return row.person;
      }),
    forget: (config, person) =>
      database.write(function* () {
        yield* run(`DELETE FROM claudikins.directory WHERE ${isFormer} AND person = $person`, { config, person });
        yield* run("UPDATE claudikins.directory SET person = NULL WHERE config = $config AND person = $person", {
          config,
          person,
        });
      }),
    user: (config, by, value) =>
      database.read(function* () {
        const meant = by === "userName" ? "key = $value" : "external_id = $value";
        const statement = `SELECT id, person, is_active FROM claudikins.directory WHERE config = $config AND kind = 'User' AND ${meant}`;
        const values = { config, value: by === "userName" ? value.toLowerCase() : value };
        // Two users with one external id are a mistake of the directory. The stricter one counts.
        const rows = yield* all<Omit<DirectoryUser, "groups">>(statement, values);
        const row = rows.find(({ isActive }) => !isActive) ?? rows[0];
        return row && { ...row, groups: yield* groupsOf(config, row.id) };
      }),
    known: (config, user, person) =>
      database.write(function* () {
        const who = "config = $config AND kind = 'User' AND id = $user";
        yield* run(`UPDATE claudikins.directory SET person = $person WHERE ${who}`, { config, user, person });
      }),
  };
}

function valuesOf(config: string, kind: DirectoryKind, entry: DirectoryEntry) {
  const { id, name, externalId, isActive, createdAt, changedAt, json } = entry;
  return { config, kind, id, key: name.toLowerCase(), externalId, isActive, createdAt, changedAt, json };
}

function* entryWith(config: string, kind: DirectoryKind, id: string): Work<DirectoryEntry | undefined> {
  const row = yield* first<Row>(`SELECT * FROM claudikins.directory WHERE ${isEntry}`, { config, kind, id });
  return row && (yield* entryOf(config, kind, row, true));
}

function* entryOf(config: string, kind: DirectoryKind, row: Row, withMembers: boolean): Work<DirectoryEntry> {
  const { id, externalId, isActive, person, createdAt, changedAt, json, key } = row;
  const statement = `SELECT member FROM claudikins.directory_members WHERE ${isTeam} ORDER BY member`;
  const members = kind === "Group" && withMembers ? yield* all<{ member: string }>(statement, { config, id }) : [];
  const about = { id, person, createdAt, changedAt, isActive, json, name: key, externalId: externalId ?? undefined };
  return { ...about, members: members.map(({ member }) => member) };
}

/** Writes only what changes, because a group may have thousands of members. */
function* setMembers(config: string, id: string, before: readonly string[], after: readonly string[]): Work<void> {
  const [had, has] = [new Set(before), new Set(after)];
  const gone = [...had.difference(has)];
  const added = [...has.difference(had)];
  if (gone.length > 0)
    yield* run(
      `DELETE FROM claudikins.directory_members WHERE ${isTeam} AND member IN (SELECT value FROM texts($gone))`,
      { config, id, gone },
    );
  if (added.length > 0)
    yield* run(
      `INSERT INTO claudikins.directory_members (config, team, member) SELECT $config, $id, value FROM texts($added)
       WHERE TRUE ON CONFLICT DO NOTHING`,
      { config, id, added },
    );
}

/** A user of a group in a group is a user of both. */
function* groupsOf(config: string, user: string): Work<string[]> {
  const statement = `SELECT directory.id, directory.json FROM claudikins.directory_members AS members
     JOIN claudikins.directory AS directory ON directory.config = members.config AND directory.kind = 'Group' AND directory.id = members.team
     WHERE members.config = $config AND members.member IN (SELECT value FROM texts($ids))`;
  const found = new Map<string, string>();
  let ids = [user];
  for (let level = 0; ids.length > 0 && level < maxGroupLevels; level++) {
    const rows: { id: string; json: string }[] = yield* all<{ id: string; json: string }>(statement, { config, ids });
    const fresh = rows.filter(({ id }) => !found.has(id));
    for (const { id, json } of fresh) found.set(id, (JSON.parse(json) as { displayName: string }).displayName);
    ids = fresh.map(({ id }) => id);
  }
  return [...found.values()];
}
