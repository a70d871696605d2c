/** How an approval is read from its row. */
import type { Approval } from "../approval.ts";
import type { Querying, Values } from "./querying.ts";

/** A row as the database has it: `changed` and `bound` are JSON. */
type Row = Omit<Approval, "changed" | "bound"> & { changed: string | null; bound: string };

/** All but the arguments, which may be long, and the place. */
export const columns =
  "id, config, door, person, person_name, execution, call, owner, line, code, server, tool, excerpt, args_chars, args_bytes, why, told, changed, bound, " +
  "state, scope, asked_at, expires_at, decided_at, decided_by";

/** The rows of a statement that returns `columns`. */
export async function approvalsIn(querying: Querying, statement: string, values: Values): Promise<Approval[]> {
  const rows = await querying.all<Row>(statement, values);
  return rows.map(({ changed, bound, ...row }) => ({
    ...row,
    changed: changed === null ? null : JSON.parse(changed),
    bound: JSON.parse(bound),
  }));
}
