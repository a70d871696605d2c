/** Finds an execution by what a person types: its id, or the beginning or the end of its id. */
import { ClaudikinsError } from "../base/errors.ts";

/** Ids that an error lists. */
const maxListed = 5;

/** Undefined if none fits. Throws USAGE if several do. */
export function executionNamed(wanted: string, ids: readonly string[]): string | undefined {
  if (wanted === "" || ids.includes(wanted)) return ids.find((id) => id === wanted);
  const fitting = ids.filter((id) => id.startsWith(wanted) || id.endsWith(wanted));
  if (fitting.length <= 1) return fitting[0];
  const more = fitting.length > maxListed ? `, and ${fitting.length - maxListed} more` : "";
  throw new ClaudikinsError("USAGE", `Several executions begin or end with "${wanted}"`, {
    hint: `One of: ${fitting.slice(0, maxListed).join(", ")}${more}`,
  });
}
