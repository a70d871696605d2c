/** The people who have signed in to `serve --http`, and who of them may no longer. */
import type { Database } from "bun:sqlite";
import { type NewestGroups, newestGroups, type PeopleRows, type PersonKey, type StoredPerson } from "../people.ts";
import type { Access } from "./access.ts";

type Row = Omit<StoredPerson, "doors"> & { doors: string };

export class PeopleStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** The people of a config, or of all configs, in the order in which they came. */
  list(config?: string): StoredPerson[] {
    const where = config === undefined ? "" : "WHERE config = $config";
    return this.#database
      .query<Row, Record<string, string>[]>(`SELECT * FROM people ${where} ORDER BY firstAt, id`)
      .all(config === undefined ? {} : { config })
      .map(personOf);
  }

  get(config: string, id: string): StoredPerson | undefined {
    const row = this.#database
      .query<Row, [Record<string, string>]>("SELECT * FROM people WHERE config = $config AND id = $id")
      .get({ config, id });
    return row ? personOf(row) : undefined;
  }

  /** The ids of those who may no longer. */
  revoked(config: string): Set<string> {
    const rows = this.#database
      .query<{ id: string }, [Record<string, string>]>(
        "SELECT id FROM people WHERE config = $config AND revokedAt IS NOT NULL",
      )
      .all({ config });
    return new Set(rows.map(({ id }) => id));
  }

  newest({ config, id }: PersonKey): NewestGroups | undefined {
    const row = this.#database
      .query<{ issuedAt: number; groups: string }, [Record<string, string>]>(
        "SELECT issuedAt, groups FROM newestGroups WHERE config = $config AND id = $id",
      )
      .get({ config, id });
    return row ? { issuedAt: row.issuedAt, groups: JSON.parse(row.groups) as string[] } : undefined;
  }

  /** Keeps what a token says, if no newer one is known. */
  keepNewest({ config, id }: PersonKey, token: NewestGroups, before: number): void {
    const changed = newestGroups(this.newest({ config, id }), token);
    if (!changed) return;
    this.#database
      .query(
        "INSERT OR REPLACE INTO newestGroups (config, id, issuedAt, groups) VALUES ($config, $id, $issuedAt, $groups)",
      )
      .run({ config, id, issuedAt: changed.issuedAt, groups: JSON.stringify(changed.groups) });
    this.#database.query("DELETE FROM newestGroups WHERE issuedAt < $before").run({ before });
  }

  /** Writes that a person was here. Whether the person is revoked stays as it is. */
  seen({ doors, firstAt: _, revokedAt: __, ...person }: StoredPerson): void {
    const { config, id } = person;
    const known = this.get(config, id)?.doors ?? [];
    const all = JSON.stringify([...new Set([...known, ...doors])].sort());
    this.#database
      .query(
        `INSERT INTO people (config, id, issuer, subject, name, email, doors, firstAt, lastAt)
         VALUES ($config, $id, $issuer, $subject, $name, $email, $doors, $lastAt, $lastAt)
         ON CONFLICT (config, id) DO UPDATE SET issuer = $issuer, subject = $subject, name = $name, email = $email, doors = $doors,
           lastAt = $lastAt`,
      )
      .run({ ...person, doors: all });
  }

  forget({ config, id }: PersonKey): void {
    this.#database.query("DELETE FROM newestGroups WHERE config = $config AND id = $id").run({ config, id });
    this.#database
      .query("DELETE FROM people WHERE config = $config AND id = $id AND revokedAt IS NULL")
      .run({ config, id });
    this.#database
      .query(
        `UPDATE people SET issuer = '', subject = '', name = id, email = NULL, doors = '[]', firstAt = revokedAt, lastAt = revokedAt
         WHERE config = $config AND id = $id`,
      )
      .run({ config, id });
  }

  /** Revokes a person, or with null restores one. Returns whether that changed anything. */
  setRevoked(config: string, id: string, revokedAt: number | null): boolean {
    const { changes } = this.#database
      .query(
        "UPDATE people SET revokedAt = $revokedAt WHERE config = $config AND id = $id AND (revokedAt IS NULL) = ($revokedAt IS NOT NULL)",
      )
      .run({ config, id, revokedAt });
    return changes > 0;
  }
}

function personOf({ doors, ...row }: Row): StoredPerson {
  return { ...row, doors: JSON.parse(doors) as string[] };
}

export function peopleRows(access: Access): PeopleRows {
  return {
    list: (config) => access.read([], (database) => new PeopleStore(database).list(config)),
    revoked: (config) => access.read(new Set(), (database) => new PeopleStore(database).revoked(config)),
    standing: (person) =>
      access.read({ isRevoked: false, newest: undefined }, (database) => {
        const table = new PeopleStore(database);
        const revokedAt = table.get(person.config, person.id)?.revokedAt ?? null;
        return { isRevoked: revokedAt !== null, newest: table.newest(person) };
      }),
    keepNewest: (person, token, before) =>
      access.write((database) => new PeopleStore(database).keepNewest(person, token, before)),
    seen: (person) => access.write((database) => new PeopleStore(database).seen(person)),
    forget: (person) => access.write((database) => new PeopleStore(database).forget(person)),
    setRevoked: (people, revokedAt) =>
      access.write((database) => {
        const table = new PeopleStore(database);
        return people.filter(({ config, id }) => table.setRevoked(config, id, revokedAt));
      }),
  };
}
