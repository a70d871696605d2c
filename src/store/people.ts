/** The people who have signed in to `serve --http`, and who of them may no longer. */
import { all, type Database, first, run, tell } from "./work.ts";

/** Times are in milliseconds since 1970. */
export interface StoredPerson {
  /** The config file. */
  config: string;
  /** A digest of the issuer and the subject. */
  id: string;
  /** Empty, like the subject, if the data of the person was deleted. */
  issuer: string;
  subject: string;
  name: string;
  email: string | null;
  /** The doors that the person has used. `mcp` is the whole config. */
  doors: string[];
  firstAt: number;
  lastAt: number;
  /** Null unless revoked. */
  revokedAt: number | null;
}

/** A config and an id name a person. */
export type PersonKey = Pick<StoredPerson, "config" | "id">;

/** What the token of a person that was issued last says. */
export interface NewestGroups {
  /** In milliseconds since 1970, by the clock of the provider. */
  issuedAt: number;
  groups: string[];
}

/** Of the tokens that were issued at the same time, the groups of all count. Undefined if the token changes nothing. */
export function newestGroups(known: NewestGroups | undefined, token: NewestGroups): NewestGroups | undefined {
  if (!known || token.issuedAt > known.issuedAt) return token;
  if (token.issuedAt < known.issuedAt) return undefined;
  const more = token.groups.filter((each) => !known.groups.includes(each));
  return more.length === 0 ? undefined : { ...known, groups: [...known.groups, ...more] };
}

/** A person has signed out at the provider. */
export interface SignOut {
  /** The session there, as tokens name it. Empty: all sessions of the person. */
  session: string;
  /** In milliseconds since 1970, by the clock of the provider. */
  at: number;
}

/** Facts about a person that decide about each use of a right. */
export interface Standing {
  isRevoked: boolean;
  newest: NewestGroups | undefined;
  signOuts: SignOut[];
}

export interface PeopleRows {
  /** The people of a config, or of all configs, in the order in which they came. */
  list(config?: string): Promise<StoredPerson[]>;
  get(person: PersonKey): Promise<StoredPerson | undefined>;
  /** The ids of those who may no longer. */
  revoked(config: string): Promise<Set<string>>;
  /** Whether a person may no longer, and what the newest known token says. It is asked for with each use of a right. */
  standing(person: PersonKey): Promise<Standing>;
  /** Keeps a sign-out, of which we were told at `now`. Those that are older than `before` are forgotten. */
  signOut(person: PersonKey, signOut: SignOut, times: { now: number; before: number }): Promise<void>;
  /** The sign-outs of which a process was told at `since` or later. */
  signOutsSince(config: string, since: number): Promise<(SignOut & { id: string })[]>;
  /** Keeps what a token says, if no newer one is known. Groups that are older than `before` are forgotten. */
  keepNewest(person: PersonKey, token: NewestGroups, before: number): Promise<void>;
  /**
   * Writes that a person was here at `lastAt`. The doors are added to those that are stored, and the list is sorted. A person who is new came
   * at `lastAt` and is not revoked; otherwise `firstAt` and `revokedAt` stay as they are.
   */
  seen(person: StoredPerson): Promise<void>;
  /**
   * Forgets a person. For a revoked person, a row stays that only refuses the person: its name is the id, and its times are the time of the
   * revocation.
   */
  forget(person: PersonKey): Promise<void>;
  /** Revokes people, or with null restores them. Returns those whose state has changed. */
  setRevoked<Person extends PersonKey>(people: readonly Person[], revokedAt: number | null): Promise<Person[]>;
}

type Row = Omit<StoredPerson, "doors"> & { doors: string };

interface GroupsRow {
  issuedAt: number | null;
  groups: string | null;
}

const isPerson = "config = $config AND id = $id";

export function peopleRows(database: Database): PeopleRows {
  return {
    async list(config) {
      const where = config === undefined ? "" : "WHERE config = $config";
      const statement = `SELECT * FROM claudikins.people ${where} ORDER BY first_at, id`;
      const rows = await database.read(() => all<Row>(statement, { config }));
      return rows.map(({ doors, ...row }) => ({ ...row, doors: JSON.parse(doors) as string[] }));
    },
    async get(person) {
      const statement = `SELECT * FROM claudikins.people WHERE ${isPerson}`;
      const row = await database.read(() => first<Row>(statement, { config: person.config, id: person.id }));
      return row && { ...row, doors: JSON.parse(row.doors) as string[] };
    },
    async revoked(config) {
      const statement = "SELECT id FROM claudikins.people WHERE config = $config AND revoked_at IS NOT NULL";
      const rows = await database.read(() => all<{ id: string }>(statement, { config }));
      return new Set(rows.map(({ id }) => id));
    },
    async standing({ config, id }) {
      const statement = `SELECT people.revoked_at, newest.issued_at, newest.groups FROM (SELECT 1 AS one) AS always
         LEFT JOIN claudikins.people ON people.config = $config AND people.id = $id
         LEFT JOIN claudikins.newest_groups AS newest ON newest.config = $config AND newest.id = $id`;
      const signOuts = `SELECT session, at FROM claudikins.sign_outs WHERE ${isPerson}`;
      return database.read(function* () {
        const row = yield* first<GroupsRow & { revokedAt: number | null }>(statement, { config, id });
        const isRevoked = (row?.revokedAt ?? null) !== null;
        return { isRevoked, newest: row && groupsIn(row), signOuts: yield* all<SignOut>(signOuts, { config, id }) };
      });
    },
    signOut: ({ config, id }, { session, at }, { now, before }) =>
      database.write(function* () {
        yield* run(
          `INSERT INTO claudikins.sign_outs (config, id, session, at, told_at) VALUES ($config, $id, $session, $at, $now)
           ON CONFLICT (config, id, session) DO UPDATE SET at = excluded.at, told_at = excluded.told_at
           WHERE excluded.at >= sign_outs.at`,
          { config, id, session, at, now },
        );
        yield* run("DELETE FROM claudikins.sign_outs WHERE told_at < $before", { before });
        yield* tell();
      }),
    async signOutsSince(config, since) {
      const statement = "SELECT id, session, at FROM claudikins.sign_outs WHERE told_at >= $since AND config = $config";
      return database.read(() => all<SignOut & { id: string }>(statement, { config, since }));
    },
    keepNewest: ({ config, id }, token, before) =>
      database.write(function* () {
        const rowOf = ({ issuedAt, groups }: NewestGroups) => ({
          config,
          id,
          issuedAt,
          groups: JSON.stringify(groups),
        });
        yield* run(
          `INSERT INTO claudikins.newest_groups (config, id, issued_at, groups) VALUES ($config, $id, $issuedAt, $groups)
           ON CONFLICT (config, id) DO NOTHING`,
          rowOf(token),
        );
        const known = `SELECT issued_at, groups FROM claudikins.newest_groups WHERE ${isPerson} FOR UPDATE`;
        const row = yield* first<GroupsRow>(known, { config, id });
        const changed = newestGroups(row && groupsIn(row), token);
        if (changed) {
          const update = `UPDATE claudikins.newest_groups SET issued_at = $issuedAt, groups = $groups WHERE ${isPerson}`;
          yield* run(update, rowOf(changed));
        }
        yield* run("DELETE FROM claudikins.newest_groups WHERE issued_at < $before", { before });
      }),
    seen: ({ doors, firstAt: _, revokedAt: __, ...person }) =>
      database.write(function* () {
        const sorted = JSON.stringify([...new Set(doors)].sort());
        // The doors that were known before, or those of a person who is new. Others who write the row wait.
        const row = yield* first<{ doors: string }>(
          `INSERT INTO claudikins.people (config, id, issuer, subject, name, email, doors, first_at, last_at)
           VALUES ($config, $id, $issuer, $subject, $name, $email, $sorted, $lastAt, $lastAt)
           ON CONFLICT (config, id) DO UPDATE SET issuer = excluded.issuer, subject = excluded.subject, name = excluded.name,
             email = excluded.email, last_at = excluded.last_at
           RETURNING doors`,
          { ...person, sorted },
        );
        const known = JSON.parse(row?.doors ?? "[]") as string[];
        const all = JSON.stringify([...new Set([...known, ...doors])].sort());
        if (all === row?.doors) return;
        const { config, id } = person;
        yield* run(`UPDATE claudikins.people SET doors = $all WHERE ${isPerson}`, { config, id, all });
      }),
    forget: ({ config, id }) =>
      database.write(function* () {
        const person = { config, id };
        yield* run(`DELETE FROM claudikins.newest_groups WHERE ${isPerson}`, person);
        yield* run(`DELETE FROM claudikins.sign_outs WHERE ${isPerson}`, person);
        yield* run(`DELETE FROM claudikins.people WHERE ${isPerson} AND revoked_at IS NULL`, person);
        yield* run(
          `UPDATE claudikins.people SET issuer = '', subject = '', name = id, email = NULL, doors = '[]', first_at = revoked_at,
             last_at = revoked_at
           WHERE ${isPerson}`,
          person,
        );
        yield* tell();
      }),
    setRevoked: (people, revokedAt) =>
      database.write(function* () {
        const isRevoked = revokedAt !== null;
        const statement = `UPDATE claudikins.people SET revoked_at = $revokedAt WHERE ${isPerson} AND (revoked_at IS NULL) = $isRevoked`;
        const changed: (typeof people)[number][] = [];
        for (const person of people) {
          const { config, id } = person;
          if ((yield* run(statement, { config, id, revokedAt, isRevoked })) > 0) changed.push(person);
        }
        if (changed.length > 0) yield* tell();
        return changed;
      }),
  };
}

function groupsIn({ issuedAt, groups }: GroupsRow): NewestGroups | undefined {
  return issuedAt === null || groups === null ? undefined : { issuedAt, groups: JSON.parse(groups) as string[] };
}
