/** The people who have signed in to `serve --http`, as rows. */
import { type NewestGroups, newestGroups, type PeopleRows, type PersonKey, type StoredPerson } from "../people.ts";
import { tellOnCommit } from "./changes.ts";
import type { Connections } from "./connections.ts";
import { jsonOf } from "./querying.ts";

interface GroupsRow {
  issuedAt: number | null;
  groups: string | null;
}

type Row = Omit<StoredPerson, "doors"> & { doors: string };

export class PostgresPeople implements PeopleRows {
  readonly #connections: Connections;

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  async list(config?: string): Promise<StoredPerson[]> {
    const where = config === undefined ? "" : "WHERE config = $config";
    const statement = `SELECT * FROM claudikins.people ${where} ORDER BY first_at, id`;
    const rows = await this.#connections.each((querying) => querying.all<Row>(statement, { config }));
    return rows.map(({ doors, ...row }) => ({ ...row, doors: JSON.parse(doors) as string[] }));
  }

  async revoked(config: string): Promise<Set<string>> {
    const statement = "SELECT id FROM claudikins.people WHERE config = $config AND revoked_at IS NOT NULL";
    const rows = await this.#connections.each((querying) => querying.all<{ id: string }>(statement, { config }));
    return new Set(rows.map(({ id }) => id));
  }

  async standing(person: PersonKey): Promise<{ isRevoked: boolean; newest: NewestGroups | undefined }> {
    const statement = `SELECT people.revoked_at, newest.issued_at, newest.groups FROM (SELECT 1) AS always
       LEFT JOIN claudikins.people ON people.config = $config AND people.id = $id
       LEFT JOIN claudikins.newest_groups AS newest ON newest.config = $config AND newest.id = $id`;
    const rows = await this.#connections.each((querying) =>
      querying.all<GroupsRow & { revokedAt: number | null }>(statement, { config: person.config, id: person.id }),
    );
    const [row] = rows;
    return { isRevoked: (row?.revokedAt ?? null) !== null, newest: row && groupsIn(row) };
  }

  async keepNewest({ config, id }: PersonKey, token: NewestGroups, before: number): Promise<void> {
    await this.#connections.transaction(async (querying) => {
      await querying.run(
        `INSERT INTO claudikins.newest_groups (config, id, issued_at, groups) VALUES ($config, $id, $issuedAt, $groups)
         ON CONFLICT (config, id) DO NOTHING`,
        { config, id, issuedAt: token.issuedAt, groups: JSON.stringify(token.groups) },
      );
      const [row] = await querying.all<GroupsRow>(
        "SELECT issued_at, groups FROM claudikins.newest_groups WHERE config = $config AND id = $id FOR UPDATE",
        { config, id },
      );
      const changed = newestGroups(row && groupsIn(row), token);
      if (!changed) return;
      await querying.run(
        "UPDATE claudikins.newest_groups SET issued_at = $issuedAt, groups = $groups WHERE config = $config AND id = $id",
        { config, id, issuedAt: changed.issuedAt, groups: JSON.stringify(changed.groups) },
      );
    });
    await this.#connections.each((querying) =>
      querying.run("DELETE FROM claudikins.newest_groups WHERE issued_at < $before", { before }),
    );
  }

  async seen({ doors, firstAt: _, revokedAt: __, ...person }: StoredPerson): Promise<void> {
    const sorted = JSON.stringify([...new Set(doors)].sort());
    await this.#connections.each((querying) =>
      querying.run(
        `INSERT INTO claudikins.people (config, id, issuer, subject, name, email, doors, first_at, last_at)
         VALUES ($config, $id, $issuer, $subject, $name, $email, $doors, $lastAt, $lastAt)
         ON CONFLICT (config, id) DO UPDATE SET issuer = excluded.issuer, subject = excluded.subject, name = excluded.name,
           email = excluded.email, last_at = excluded.last_at, doors =
           (SELECT json_agg(door ORDER BY door COLLATE "C")::text FROM
             (SELECT json_array_elements_text(people.doors::json) AS door
              UNION SELECT json_array_elements_text(excluded.doors::json)) AS both_lists)`,
        { ...person, doors: sorted },
      ),
    );
  }

  async forget({ config, id }: PersonKey): Promise<void> {
    await this.#connections.transaction(async (querying) => {
      const key = { config, id };
      await querying.run("DELETE FROM claudikins.newest_groups WHERE config = $config AND id = $id", key);
      await querying.run(
        "DELETE FROM claudikins.people WHERE config = $config AND id = $id AND revoked_at IS NULL",
        key,
      );
      await querying.run(
        `UPDATE claudikins.people SET issuer = '', subject = '', name = id, email = NULL, doors = '[]', first_at = revoked_at,
           last_at = revoked_at
         WHERE config = $config AND id = $id`,
        key,
      );
      await tellOnCommit(querying);
    });
  }

  setRevoked<Person extends PersonKey>(people: readonly Person[], revokedAt: number | null): Promise<Person[]> {
    return this.#connections.transaction(async (querying) => {
      const rows = await querying.all<{ number: number }>(
        `UPDATE claudikins.people SET revoked_at = $revokedAt
         FROM json_array_elements($people::text::json) WITH ORDINALITY AS given (person, number)
         WHERE config = person->>'config' AND id = person->>'id' AND (revoked_at IS NULL) = $isRevoked
         RETURNING number::int`,
        {
          revokedAt,
          isRevoked: revokedAt !== null,
          people: jsonOf(people.map(({ config, id }) => ({ config, id }))),
        },
      );
      if (rows.length > 0) await tellOnCommit(querying);
      const changed = new Set(rows.map(({ number }) => number));
      return people.filter((_, index) => changed.has(index + 1));
    });
  }
}

function groupsIn({ issuedAt, groups }: GroupsRow): NewestGroups | undefined {
  return issuedAt === null || groups === null ? undefined : { issuedAt, groups: JSON.parse(groups) as string[] };
}
