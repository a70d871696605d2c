/** `server:github` and `category:ui` in a query: which tools are looked at at all. */

export interface Filters {
  /** Of each kind any one counts; empty where all do. In lower case. */
  servers: string[];
  categories: string[];
  /** What is left of the query. */
  rest: string;
}

/** Quoted values may have spaces: `server:"my server"`. */
export function filtersOf(query: string): Filters {
  const filters: Filters = { servers: [], categories: [], rest: "" };
  filters.rest = query.replace(
    /(^|\s)(server|category):(?:"([^"]{1,200})"|'([^']{1,200})'|([^\s"']{1,200}))/giu,
    (_, before: string, kind: string, double?: string, single?: string, plain?: string) => {
      const value = (double ?? single ?? plain ?? "").toLowerCase();
      (kind.toLowerCase() === "server" ? filters.servers : filters.categories).push(value);
      return before;
    },
  );
  return filters;
}
