/** The columns of a table that name doors and people. Each is left out if no row has one. */
import { visibleText } from "../base/visible-text.ts";

interface Row {
  door?: string | null | undefined;
  /** The name of the person, or the person. */
  person?: string | { name: string } | null | undefined;
}

export function viewColumns(rows: readonly Row[]): { head: string[]; cells(row: Row): string[] } {
  const hasDoors = rows.some(({ door }) => typeof door === "string");
  const hasPeople = rows.some(({ person }) => person);
  return {
    head: [...(hasDoors ? ["door"] : []), ...(hasPeople ? ["person"] : [])],
    cells: ({ door, person }) => [...(hasDoors ? [door ?? ""] : []), ...(hasPeople ? [nameOf(person)] : [])],
  };
}

function nameOf(person: Row["person"]): string {
  return visibleText(typeof person === "string" ? person : (person?.name ?? ""));
}
