/** Finds an execution by what a person types: its id, or the beginning or the end of its id. */
import { ClaudikinsError } from "../base/errors.ts";
import { maxListedIds } from "./limits.ts";

/** Undefined if none fits. Throws USAGE if several do. */
export function executionNamed(wanted: string, ids: readonly string[]): string | undefined {
  if (wanted === "" || ids.includes(wanted)) return ids.find((id) => id === wanted);
  const fitting = ids.filter((id) => id.startsWith(wanted) || id.endsWith(wanted));
  if (fitting.length <= 1) return fitting[0];
  const more = fitting.length > maxListedIds ? `, and ${fitting.length - maxListedIds} more` : "";
  throw new ClaudikinsError("USAGE", `Several executions begin or end with "${wanted}"`, {
    hint: `One of: ${fitting.slice(0, maxListedIds).join(", ")}${more}`,
  });
}
