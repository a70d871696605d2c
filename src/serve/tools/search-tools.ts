/** The MCP tool `search_tools`: finds signatures by words. */
import type { CallToolResult, Tool } from "@modelcontextprotocol/server";
import type { App } from "../../app/app.ts";
import { ClaudikinsError } from "../../base/errors.ts";
import { programsServer } from "../../programs/saved/model.ts";
import { ownPrograms } from "../../programs/saved/own-programs.ts";
import { defaultSearchLimit, maxSearchLimit } from "../../tools/limits.ts";
import { filtersOf } from "../../tools/search/query.ts";
import { countFound, prepareSearch, type SearchResult, search } from "../../tools/search/search.ts";
import { type Detail, details } from "../../tools/search/search-answer.ts";
import { wordsOf } from "../../tools/search/tokenize.ts";
import { textResult } from "../content/bounded-content.ts";
import { demoReminder } from "../surface/first-steps.ts";
import type { ToolCallContext } from "./call-context.ts";
import { fullText, linesText, signatureLines, toolsIn, withOthersApart } from "./search-text.ts";
import { concernedBy, unusableServers } from "./unusable-servers.ts";

/** Tools for each of several needs, if the agent sets no limit. */
const defaultSearchLimitOfSeveral = 3;

/** Needs of one search. */
const maxNeeds = 20;

/** Tools in a list of all tools of a server. */
const maxListedTools = 200;

/** A list with more tools and more characters has no signatures unless the agent asks for them. */
const maxToolsWithSignatures = 15;

/** The number of characters for this. */
const maxSignatureListChars = 4_000;

export const searchTools: Tool = {
  name: "search_tools",
  title: "Search tools",
  description: "Find tools for execute_code by what they do: all that a task needs in one search.",
  inputSchema: {
    type: "object",
    properties: {
      query: { type: "string" },
      queries: { type: "array", items: { type: "string" } },
      server: { type: "string", description: "Alone, lists its tools" },
      limit: { type: "integer", description: "Per query" },
      detail: {
        type: "string",
        enum: [...details],
        description: "names: a line each; full: whole descriptions and schemas",
      },
    },
  },
  annotations: { readOnlyHint: true },
};

/** The checked request of an agent. */
interface SearchRequest {
  needs: string[];
  /** Whether the only need has no words: all tools of the servers are listed. */
  isList: boolean;
  servers: string[];
  limit: number;
  /** Undefined if the agent does not choose. */
  detail: Detail | undefined;
}

/** The request, or what is wrong with the arguments. */
function requestOf(args: Record<string, unknown>): SearchRequest | string {
  const { query, queries = [], server, limit, detail: wanted } = args;
  const asked = [query, ...(Array.isArray(queries) ? queries : [queries])].filter((each) => each !== undefined);
  const needs = [...new Set(asked.filter((each) => typeof each === "string").map((each) => each.trim()))].filter(
    Boolean,
  );
  const named = server === undefined ? [] : [server].flat();
  if (named.some((each) => typeof each !== "string"))
    return '"server" must be the name of a server, or several with commas between them';
  const servers = named
    .flatMap((each) => String(each).split(","))
    .map((each) => each.trim())
    .filter(Boolean);
  if (asked.some((each) => typeof each !== "string") || (needs.length === 0 && servers.length === 0)) {
    return (
      'search_tools needs "query", a few words such as "list open issues"; or "queries", a list of them; ' +
      'or "server", to list the tools of one server'
    );
  }
  if (needs.length > maxNeeds) return `"queries" has ${needs.length} needs; at most ${maxNeeds} fit into one search`;
  if (limit !== undefined && (!Number.isInteger(limit) || Number(limit) < 1))
    return `"limit" must be a whole number from 1 to ${maxSearchLimit}`;
  const detail = details.find((each) => each === wanted);
  if (wanted !== undefined && !detail) return `"detail" must be one of ${details.join(", ")}`;
  const isList = needs.length === 0 || (needs.length === 1 && isOnlyFilters(needs[0]!, servers));
  const usual = isList ? maxListedTools : needs.length === 1 ? defaultSearchLimit : defaultSearchLimitOfSeveral;
  return {
    // A sign such as `*` would match nothing.
    needs: isList && servers.length > 0 ? [""] : needs,
    isList,
    servers,
    limit: Math.min(Number(limit ?? usual), isList ? maxListedTools : maxSearchLimit),
    detail,
  };
}

/** Whether a query selects servers and says nothing about the tools, such as `server:github`. */
function isOnlyFilters(query: string, servers: readonly string[]): boolean {
  const filters = filtersOf(query);
  const isFiltered = servers.length + filters.servers.length + filters.categories.length > 0;
  return isFiltered && wordsOf(filters.rest).length === 0;
}

/**
 * Unknown servers that the search is about are listed first, concurrently. A slow or broken server is named instead, once per session:
 * `mentioned` has the names of earlier answers.
 */
export async function callSearchTools(
  args: Record<string, unknown>,
  app: App,
  signal: AbortSignal,
  { mentioned = new Set(), asker }: ToolCallContext = {},
): Promise<CallToolResult> {
  const request = requestOf(args);
  if (typeof request === "string") return textResult(request, true);
  const { needs, servers, isList, limit } = request;
  const concerned = concernedBy(needs, servers, app);
  if (concerned.problem !== undefined) return textResult(concerned.problem, true);
  const problems = await app.catalog.listMissing(signal, { only: concerned.servers });
  // Skills of the workspace are found too.
  await (await app.sharedWorkspace())?.refresh();
  await prepareSearch(app.catalog);
  const { filters } = concerned;
  const seesPrograms = filters === undefined || filters.includes(programsServer);
  const { withPrograms, catalog } = await ownPrograms({ program: undefined, starter: asker?.starter }, app);
  const results = needs.map((need) => {
    const found = filters?.length === 0 ? nothing(need) : foundFor(need, limit, app, filters);
    return seesPrograms ? withPrograms(found, limit) : found;
  });
  const isEmpty = toolsIn(results).length === 0;
  const asked = [...needs, ...servers].join(" ");
  const unusable = unusableServers(app, { asked, concerned, isEmpty, problems, mentioned });
  if (isEmpty && concerned.servers?.every((name) => !app.catalog.find(name))) {
    return textResult(unusable.lines.join("\n") || "The user's policy allows none of its tools.", true);
  }
  const detail = request.detail ?? (isList && !isShort(results) ? "names" : "signatures");
  const seen = { config: app.config, catalog };
  if (detail === "full") return textResult(fullText(results, unusable, seen));
  const matches = results.map((result) => (request.detail ? { ...result, others: [] } : withOthersApart(result)));
  const lines = [
    linesText(matches, detail, unusable, seen),
    isList ? unlistedText({ ...request, servers: filters ?? [] }, results, app) : "",
    detail === "names" && request.detail === undefined ? howToCall : "",
    demoReminder(app),
  ];
  return textResult(lines.filter(Boolean).join("\n"));
}

/** A filter for a configured server finds nothing as long as the tools of the server are not known. */
function foundFor(need: string, limit: number, { catalog }: App, filters: readonly string[] = []): SearchResult {
  try {
    return search(need, limit, catalog, filters);
  } catch (error) {
    if (!(error instanceof ClaudikinsError) || error.code !== "SERVER_NOT_FOUND") throw error;
    return nothing(need);
  }
}

const nothing = (query: string): SearchResult => ({ query, tools: [], searched: 0, notIndexed: [], outdated: [] });

/** The last line of a list without signatures. */
const howToCall = 'To call them, ask again with detail: "signatures", or with a query for a few of them.';

/** Whether the signatures of a list are read sooner than a second answer. */
function isShort(results: readonly SearchResult[]): boolean {
  const tools = toolsIn(results);
  return tools.length <= maxToolsWithSignatures || tools.map(signatureLines).join("\n").length <= maxSignatureListChars;
}

/** How many tools the limit leaves out of a list, and how to see them. */
function unlistedText({ needs, servers, limit }: SearchRequest, results: readonly SearchResult[], app: App): string {
  const count = countFound(needs[0]!, app.catalog, servers) - toolsIn(results).length;
  if (count <= 0) return "";
  return `${count} more: ${limit < maxListedTools ? 'raise "limit"' : "add a query"}`;
}
