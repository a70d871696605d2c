/** The MCP tool `search_tools`: finds signatures by words. */
import type { CallToolResult, Tool } from "@modelcontextprotocol/server";
import { ClaudikinsError } from "../../errors.ts";
import { filtersOf } from "../../registry/search/query.ts";
import { wordsOf } from "../../registry/search/tokenize.ts";
import { firstSentence } from "../../registry/signature.ts";
import { type DownServer, downText } from "../../search/down-servers.ts";
import { nameRepeatedTypes } from "../../search/repeated-types.ts";
import { countFound, type FoundTool, prepareSearch, type SearchResult, search } from "../../search/search.ts";
import {
  alsoText,
  briefCall,
  type Detail,
  details,
  fullTool,
  overview,
  tellingExample,
} from "../../search/search-answer.ts";
import type { Toolbox } from "../../toolbox/toolbox.ts";
import { textResult } from "../content/bounded-content.ts";
import { demoReminder } from "../first-steps.ts";
import type { CallContext } from "./call-context.ts";
import { concernedBy, type Unusable, unusableServers } from "./told-down.ts";

/** The default number of tools for one need, and for each of several. */
const defaultLimit = 5;
const defaultLimitOfSeveral = 3;
const maxLimit = 50;
const maxNeeds = 20;
/** The most tools in a list of all tools of a server. */
const maxListed = 200;
/** A list with more tools and more characters has no signatures unless the agent asks for them. */
const fewListed = 15;
const shortListChars = 4_000;

export const searchTools: Tool = {
  name: "search_tools",
  title: "Search tools",
  description:
    "Find tools by what they do: all that a task needs in one search. Returns exact signatures for execute_code.",
  inputSchema: {
    type: "object",
    properties: {
      query: { type: "string" },
      queries: { type: "array", items: { type: "string" } },
      server: { type: "string", description: "Alone, lists its tools" },
      limit: { type: "integer", description: "Per query" },
      detail: { type: "string", enum: [...details] },
    },
  },
  annotations: { readOnlyHint: true, openWorldHint: false },
};

/** What an agent asks for, checked. */
interface Request {
  needs: string[];
  /** Whether the only need has no words: all tools of the servers are listed. */
  isList: boolean;
  servers: string[];
  limit: number;
  /** Undefined if the agent does not choose. */
  detail: Detail | undefined;
}

/** The request, or what is wrong with the arguments. */
function requestOf(args: Record<string, unknown>): Request | string {
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
    return `"limit" must be a whole number from 1 to ${maxLimit}`;
  const detail = details.find((each) => each === wanted);
  if (wanted !== undefined && !detail) return `"detail" must be one of ${details.join(", ")}`;
  const isList = needs.length === 0 || (needs.length === 1 && isOnlyFilters(needs[0]!, servers));
  const usual = isList ? maxListed : needs.length === 1 ? defaultLimit : defaultLimitOfSeveral;
  return {
    // A sign such as `*` would match nothing.
    needs: isList && servers.length > 0 ? [""] : needs,
    isList,
    servers,
    limit: Math.min(Number(limit ?? usual), isList ? maxListed : maxLimit),
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
 * Servers that are not known are listed first, concurrently, of those that the search is about. A slow or broken server is named
 * instead, once per session: `told` has the names that were told before.
 */
export async function callSearchTools(
  args: Record<string, unknown>,
  toolbox: Toolbox,
  signal: AbortSignal,
  { told = new Set() }: CallContext = {},
): Promise<CallToolResult> {
  const request = requestOf(args);
  if (typeof request === "string") return textResult(request, true);
  const { needs, servers, isList, limit } = request;
  const concerned = concernedBy(needs, servers, toolbox);
  if (concerned.problem !== undefined) return textResult(concerned.problem, true);
  const problems = await toolbox.catalog.fetchMissing(signal, { only: concerned.servers });
  await prepareSearch(toolbox.catalog);
  const { filters } = concerned;
  const results = needs.map((need) =>
    filters?.length === 0 ? nothing(need) : foundFor(need, limit, toolbox, filters),
  );
  const isEmpty = toolsIn(results).length === 0;
  const asked = [...needs, ...servers].join(" ");
  const unusable = unusableServers(toolbox, { asked, concerned, isEmpty, problems, told });
  if (isEmpty && concerned.servers?.every((name) => !toolbox.catalog.find(name))) {
    return textResult(unusable.lines.join("\n") || "The user's policy allows none of its tools.", true);
  }
  const detail = request.detail ?? (isList && !isShort(results) ? "names" : "signatures");
  if (detail === "full") return textResult(fullText(results, unusable, toolbox));
  const matches = results.map((result) => (request.detail ? { ...result, others: [] } : withOthersApart(result)));
  const lines = [
    linesText(matches, detail, unusable, toolbox),
    isList ? unlistedText({ ...request, servers: filters ?? [] }, results, toolbox) : "",
    detail === "names" && request.detail === undefined ? howToCall : "",
    demoReminder(toolbox),
  ];
  return textResult(lines.filter(Boolean).join("\n"));
}

/** A filter for a configured server whose tools are not known finds nothing. */
function foundFor(need: string, limit: number, { catalog }: Toolbox, filters: readonly string[] = []): SearchResult {
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
  return tools.length <= fewListed || tools.map(signatureLines).join("\n").length <= shortListChars;
}

/** How many tools the limit leaves out of a list, and how to see them. */
function unlistedText({ needs, servers, limit }: Request, results: readonly SearchResult[], toolbox: Toolbox): string {
  const count = countFound(needs[0]!, toolbox.catalog, servers) - toolsIn(results).length;
  if (count <= 0) return "";
  return `${count} more: ${limit < maxListed ? 'raise "limit"' : "add a query"}`;
}

/** Matches with a smaller share of the best one's score are seldom what the agent needs. */
const minShareOfLikely = 0.8;

/** The share of an answer that likely tools may take. */
const shareOfLikely = 0.8;

/** What a need has found: `tools` are nearly as good as the best one, and `others` are not. */
interface Matches extends SearchResult {
  others: FoundTool[];
}

function withOthersApart(result: SearchResult): Matches {
  const most = result.tools[0]?.score ?? 0;
  const isLikely = ({ score }: FoundTool) => result.query === "" || score >= minShareOfLikely * most;
  return { ...result, tools: result.tools.filter(isLikely), others: result.tools.filter((tool) => !isLikely(tool)) };
}

/** The tools that the needs have found, each once. */
function toolsIn(results: readonly Pick<SearchResult, "tools">[]): FoundTool[] {
  return [...new Map(results.flatMap(({ tools }) => tools.map((tool) => [tool.id, tool] as const))).values()];
}

/** One section for each need. A tool appears in full once, or else as a call once; a type of several tools is named once. */
function linesText(results: readonly Matches[], detail: Detail, unusable: Unusable, toolbox: Toolbox): string {
  const [first] = results;
  if (first && toolsIn(results).length === 0) {
    return [...unusable.lines, ...nothingFound(first, toolbox)].join("\n");
  }
  const isDown = new Set(unusable.down.flatMap(({ server, isPast }) => (isPast ? [] : [server])));
  const whole = new Set(toolsIn(results).map(({ id }) => id));
  const called = new Set<string>();
  const maxChars = toolbox.config.limits.outputChars / results.length;
  const fitting = results.map(({ query, tools, others }) => {
    const likely = within(maxChars * shareOfLikely, tools, (tool) => textOf(tool, detail).length);
    const unlikely = others.filter(({ id }) => !whole.has(id) && !called.has(id));
    for (const { id } of unlikely) called.add(id);
    const calls = unlikely.map(
      (tool) => `${briefCall(tool, toolbox.catalog)}${isDown.has(tool.server) ? " (down)" : ""}`,
    );
    const shown = within(maxChars * (1 - shareOfLikely), calls, (call) => call.length);
    return { query, tools: likely.shown, calls: shown.shown, left: likely.left + shown.left };
  });
  const shown = toolsIn(fitting);
  const { types, signatures } = nameRepeatedTypes(detail === "names" ? [] : shown.map(({ signature }) => signature));
  const texts = new Map(
    shown.map((tool, at) => {
      const signature = `${signatures[at] ?? tool.signature}${isDown.has(tool.server) ? " // down" : ""}`;
      return [tool.id, textOf({ ...tool, signature }, detail)];
    }),
  );
  const shownBefore = new Set<string>();
  const sections = fitting.map(({ query, tools, calls, left }) => {
    const entries = tools.map((tool) => (shownBefore.has(tool.id) ? `${tool.id}: above` : texts.get(tool.id)!));
    for (const { id } of tools) shownBefore.add(id);
    const more = [
      ...(calls.length > 0 ? [`Less likely: ${calls.join("; ")}`] : []),
      ...(left > 0 ? [`${left} more did not fit: lower "limit", or set "detail" to "names"`] : []),
    ];
    if (results.length === 1) return [...entries, ...more];
    return [`# ${query}`, ...(entries.length > 0 ? entries : ["No tool matches."]), ...more];
  });
  return [...unusable.lines, ...types, ...sections.flat()].join("\n");
}

/** As many tools as fit, but at least one: half a signature is useless. */
function within<T>(
  maxChars: number,
  entries: readonly T[],
  lengthOf: (entry: T) => number,
): { shown: T[]; left: number } {
  const shown: T[] = [];
  let chars = 0;
  for (const entry of entries) {
    chars += lengthOf(entry);
    if (shown.length > 0 && chars > maxChars) break;
    shown.push(entry);
  }
  return { shown, left: entries.length - shown.length };
}

function textOf(tool: FoundTool, detail: Detail): string {
  return detail === "names" ? nameLine(tool) : signatureLines(tool);
}

function nameLine({ kind, id, signature, description }: FoundTool): string {
  return [kind === "skill" ? signature : id, firstSentence(description, 80)].filter(Boolean).join(": ");
}

function signatureLines(found: FoundTool): string {
  const { signature, description } = found;
  // The signature has told the name already.
  const example = tellingExample(found)?.replace(/^await [^(]*\((.*)\)$/su, "e.g. $1");
  return [signature, description, example, alsoText(found)].filter(Boolean).join("\n  ");
}

/** Maximum number of servers in an answer without tools. */
const maxServers = 30;

function nothingFound({ query, searched }: SearchResult, toolbox: Toolbox): string[] {
  const { near, servers } = overview(query, toolbox.catalog);
  const shown = servers.slice(0, maxServers).map(({ server, tools, description }) => {
    const about = firstSentence(description, 60);
    return `${server} (${tools})${servers.length <= maxServers / 3 && about ? `: ${about}` : ""}`;
  });
  const more = servers.length > maxServers ? [`${servers.length - maxServers} more`] : [];
  return [
    `No tool of ${searched} matches. Try other words for what it should do, or "server" alone for all tools of one server.`,
    ...(near.length > 0 ? [`Similar names: ${near.join(", ")}`] : []),
    ...(shown.length > 0 ? [`Servers with tools: ${[...shown, ...more].join("; ")}`] : []),
  ];
}

/** All tools once. Of several needs, each names the tools that it has found. */
function fullText(results: readonly SearchResult[], { down, notSearched }: Unusable, toolbox: Toolbox): string {
  const all = toolsIn(results).map((tool) => fullTool(tool, toolbox.catalog));
  const { shown, left } = within(toolbox.config.limits.outputChars, all, (tool) => JSON.stringify(tool).length);
  const needs = results.map(({ query, tools }) => ({ query, tools: tools.map(({ id }) => id) }));
  const [first] = results;
  const found = new Set(toolsIn(results).map(({ server }) => server));
  const textsOf = (servers: readonly DownServer[]) => servers.map((each) => [each.server, downText([each])] as const);
  const notCallable = textsOf(down.filter(({ server }) => found.has(server)));
  const unknown = [...textsOf(down.filter(({ server }) => !toolbox.catalog.find(server))), ...notSearched];
  return JSON.stringify({
    ...(notCallable.length > 0 ? { notCallable: Object.fromEntries(notCallable) } : {}),
    ...(unknown.length > 0 ? { notSearched: Object.fromEntries(unknown) } : {}),
    tools: shown,
    ...(needs.length > 1 ? { needs } : {}),
    ...(left > 0 ? { notShown: left } : {}),
    ...(all.length === 0 && first ? overview(first.query, toolbox.catalog) : {}),
  });
}
