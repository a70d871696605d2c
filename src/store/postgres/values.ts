/** Short texts for some time, as rows. */
import type { KeptValue, ValueRows } from "../replicas.ts";
import type { Connections } from "./connections.ts";
import { jsonOf } from "./querying.ts";

const columns = "kind, id, value, ends_at";

export class PostgresValues implements ValueRows {
  readonly #connections: Connections;

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  async add(value: KeptValue, max: number): Promise<void> {
    const { kind } = value;
    await this.#connections.each(async (querying) => {
      await querying.run(
        `INSERT INTO claudikins.kept_values (${columns}) VALUES ($kind, $id, $value, $endsAt) ON CONFLICT (kind, id) DO NOTHING`,
        { kind, id: value.id, value: value.value, endsAt: value.endsAt },
      );
      await querying.run(
        `DELETE FROM claudikins.kept_values WHERE ends_at <= $now OR (kind = $kind AND place <=
           (SELECT place FROM claudikins.kept_values WHERE kind = $kind ORDER BY place DESC OFFSET $max LIMIT 1))`,
        { kind, max, now: Date.now() },
      );
    });
  }

  async get(kind: string, id: string): Promise<KeptValue | undefined> {
    const statement = `SELECT ${columns} FROM claudikins.kept_values WHERE kind = $kind AND id = $id AND ends_at > $now`;
    return this.#connections.each((querying) => querying.get<KeptValue>(statement, { kind, id, now: Date.now() }));
  }

  async missing(ids: readonly string[]): Promise<string[]> {
    const statement =
      "SELECT id FROM claudikins.kept_values WHERE id IN (SELECT json_array_elements_text($ids::text::json))";
    const values = { ids: jsonOf(ids) };
    const rows = await this.#connections.each((querying) => querying.all<{ id: string }>(statement, values));
    const kept = new Set(rows.map(({ id }) => id));
    return ids.filter((id) => !kept.has(id));
  }

  async take(kind: string, id: string): Promise<KeptValue | undefined> {
    const statement = `DELETE FROM claudikins.kept_values WHERE kind = $kind AND id = $id RETURNING ${columns}`;
    const found = await this.#connections.transaction((querying) => querying.get<KeptValue>(statement, { kind, id }));
    return found && found.endsAt > Date.now() ? found : undefined;
  }
}
