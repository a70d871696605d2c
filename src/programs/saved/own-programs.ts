/** The saved programs of a caller who is not the user, for searches and lists. */
import type { ToolCatalog } from "../../tools/catalog/tool-catalog.ts";
import type { RegistryServer } from "../../tools/model.ts";
import type { SearchResult } from "../../tools/search/search.ts";
import type { Parts } from "../parts.ts";
import type { RequestingProgram } from "./requesting-program.ts";
import { callerOwner } from "./visible-programs.ts";

/** What a search has found, as the caller sees it. */
export type WithPrograms = (result: SearchResult, limit: number) => SearchResult;

/** The programs of a caller who is not the user: a server in the place of the one in the registry, which has only the user's programs. */
export async function ownPrograms(
  caller: Pick<RequestingProgram, "program" | "starter"> | undefined,
  parts: Parts,
): Promise<{ own: RegistryServer | undefined; withPrograms: WithPrograms; catalog: ToolCatalog }> {
  // Loaded only for others: the first search of the user's own agents is quicker.
  const tools = callerOwner(caller, parts) === undefined ? undefined : await import("./tools.ts");
  const own = tools?.programsFor(caller, parts);
  return {
    own,
    catalog: tools && own ? tools.catalogWith(own, parts.catalog) : parts.catalog,
    withPrograms: (result, limit) => (tools && own ? tools.withFoundPrograms(result, limit, own) : result),
  };
}
