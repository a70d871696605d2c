/** The column of a table that names doors. It is left out if no row has one. */

interface Row {
  door?: string | null | undefined;
}

export function doorColumn(rows: readonly Row[]): { head: string[]; cells(row: Row): string[] } {
  const isShown = rows.some(({ door }) => typeof door === "string");
  return { head: isShown ? ["door"] : [], cells: ({ door }) => (isShown ? [door ?? ""] : []) };
}
