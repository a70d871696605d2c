/** The MCP tool `search_tools`: finds signatures by words. */
import type { CallToolResult, Tool } from "@modelcontextprotocol/sdk/types.js";
import { stateProblem } from "../../clients/state.ts";
import { ClaudikinsError } from "../../errors.ts";
import { firstSentence } from "../../registry/signature.ts";
import { nameRepeatedTypes } from "../../search/repeated-types.ts";
import { type FoundTool, prepareSearch, type SearchResult, search } from "../../search/search.ts";
import {
  alsoText,
  type Detail,
  details,
  fullTool,
  notCallable,
  overview,
  tellingExample,
} from "../../search/search-answer.ts";
import type { Toolbox } from "../../toolbox/toolbox.ts";
import { textResult } from "../content/content.ts";

/** The default number of tools for one need, and for each of several. */
const defaultLimit = 5;
const defaultLimitOfSeveral = 3;
const maxLimit = 50;
const maxNeeds = 20;
/** The signatures of a server with more tools are not listed unless the agent asks for them. */
const maxListed = 15;

export const searchTools: Tool = {
  name: "search_tools",
  title: "Search tools",
  description:
    "Find tools of the user's MCP servers by what they do: all that a task needs in one search. " +
    "Returns their exact signatures for execute_code.",
  inputSchema: {
    type: "object",
    properties: {
      query: { type: "string", description: "What the tool should do" },
      queries: { type: "array", items: { type: "string" } },
      server: { type: "string", description: "Only this server; alone, lists its tools" },
      limit: { type: "integer", minimum: 1, maximum: maxLimit, default: defaultLimit },
      detail: { type: "string", enum: [...details], default: "signatures" },
    },
  },
  annotations: { readOnlyHint: true, openWorldHint: false },
};

/** What an agent asks for, checked. */
interface Request {
  /** One empty query lists the tools of the servers. */
  needs: string[];
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
  const servers = [server]
    .flat()
    .filter((each) => typeof each === "string")
    .flatMap((each) => each.split(","))
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
  const usual = needs.length === 0 ? maxLimit : needs.length === 1 ? defaultLimit : defaultLimitOfSeveral;
  return {
    needs: needs.length === 0 ? [""] : needs,
    servers,
    limit: Math.min(Number(limit ?? usual), maxLimit),
    detail,
  };
}

/**
 * Servers that are not known are listed first, concurrently. A slow or broken server is named instead, once per session: `told` has
 * the names that were told before.
 */
export async function callSearchTools(
  args: Record<string, unknown>,
  toolbox: Toolbox,
  signal: AbortSignal,
  _onProgress?: (line: string) => void,
  told = new Set<string>(),
): Promise<CallToolResult> {
  const request = requestOf(args);
  if (typeof request === "string") return textResult(request, true);
  const { needs, servers, limit } = request;
  const problems = await toolbox.catalog.fetchMissing(signal);
  await prepareSearch(toolbox.catalog);
  try {
    const results = needs.map((need) => search(need, limit, toolbox.catalog, servers));
    const broken = new Map(results.flatMap((result) => [...notCallable(result, toolbox, problems)]));
    const isEmpty = results.every(({ tools }) => tools.length === 0);
    const asked = [...needs, ...servers].join(" ");
    const isWanted = (name: string) => isEmpty || isNamedIn(asked, name);
    const missing = { notCallable: untold(broken, told, isWanted), notSearched: untold(problems, told, isWanted) };
    // A server that recovered may be named again later.
    for (const name of told) if (!problems.has(name) && isWell(name, toolbox)) told.delete(name);
    for (const name of [...broken.keys(), ...problems.keys()]) told.add(name);
    const detail = request.detail ?? usualDetail(needs, results);
    const text = detail === "full" ? fullText(results, missing, toolbox) : linesText(results, detail, missing, toolbox);
    return textResult(text);
  } catch (error) {
    // If the query names a server that cannot be used now, the reason is the answer.
    if (!(error instanceof ClaudikinsError) || error.code !== "SERVER_NOT_FOUND") throw error;
    return textResult(
      [error.message, error.hint, ...problemLines({ notSearched: problems })].filter(Boolean).join("\n"),
      true,
    );
  }
}

/** The names of all tools of a large server need no more room than the signatures of a few. */
function usualDetail([need]: string[], [first]: SearchResult[]): Detail {
  return need === "" && (first?.tools.length ?? 0) > maxListed ? "names" : "signatures";
}

/** Keeps servers that were not named in this session, and servers that this search is about. */
function untold(problems: ReadonlyMap<string, string>, told: ReadonlySet<string>, isWanted: (name: string) => boolean) {
  return new Map([...problems].filter(([name]) => !told.has(name) || isWanted(name)));
}

function isNamedIn(query: string, name: string): boolean {
  return ` ${query.toLowerCase().replace(/[:.,"'`]/g, " ")} `.includes(` ${name.toLowerCase()} `);
}

function isWell(name: string, { config, pool }: Toolbox): boolean {
  return config.servers.has(name) && stateProblem(pool.state(name)) === undefined;
}

interface Missing {
  /** Servers whose tools were found in their stored state. */
  notCallable?: ReadonlyMap<string, string>;
  notSearched: ReadonlyMap<string, string>;
}

/** One section for each need. A tool that several needs have found appears in full once, and so does a type of several tools. */
function linesText(results: readonly SearchResult[], detail: Detail, missing: Missing, toolbox: Toolbox): string {
  const found = new Map(results.flatMap(({ tools }) => tools.map((tool) => [tool.id, tool] as const)));
  const { types, signatures } = nameRepeatedTypes([...found.values()].map(({ signature }) => signature));
  const signatureOf = new Map([...found.keys()].map((id, at) => [id, signatures[at]!]));
  const entry = (tool: FoundTool) =>
    detail === "names" ? nameLine(tool) : signatureLines({ ...tool, signature: signatureOf.get(tool.id)! });
  const maxChars = toolbox.config.limits.outputChars / results.length;
  const shownBefore = new Set<string>();
  const sections = results.map((result) => {
    const entries = result.tools.map((tool) => (shownBefore.has(tool.id) ? `${tool.id}: above` : entry(tool)));
    const { shown, left } = within(maxChars, entries, ({ length }) => length);
    for (const { id } of result.tools.slice(0, shown.length)) shownBefore.add(id);
    const more = left > 0 ? [`${left} more did not fit: lower "limit", or set "detail" to "names"`] : [];
    if (results.length === 1) return [...shown, ...more];
    return [`# ${result.query}`, ...(shown.length > 0 ? shown : ["No tool matches."]), ...more];
  });
  const [first] = results;
  const lines = found.size === 0 && first ? nothingFound(first, toolbox) : sections.flat();
  return [...(detail === "names" ? [] : types), ...lines, ...problemLines(missing)].join("\n");
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

function nameLine({ kind, id, signature, description }: FoundTool): string {
  return [kind === "skill" ? signature : id, firstSentence(description, 80)].filter(Boolean).join(": ");
}

function signatureLines(found: FoundTool): string {
  const { signature, description } = found;
  return [signature, description, tellingExample(found), alsoText(found)].filter(Boolean).join("\n  ");
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

function problemLines({ notCallable: broken = new Map(), notSearched }: Missing): string[] {
  const lines = (text: string, problems: ReadonlyMap<string, string>) =>
    [...problems].map(([name, problem]) => `${text}: ${name} (${problem})`);
  return [...lines("Not callable now", broken), ...lines("Not searched", notSearched)];
}

/** All tools once. Of several needs, each names the tools that it has found. */
function fullText(
  results: readonly SearchResult[],
  { notCallable: broken = new Map(), notSearched }: Missing,
  toolbox: Toolbox,
): string {
  const found = new Map(results.flatMap(({ tools }) => tools.map((tool) => [tool.id, tool] as const)));
  const all = [...found.values()].map((tool) => fullTool(tool, toolbox.catalog));
  const { shown, left } = within(toolbox.config.limits.outputChars, all, (tool) => JSON.stringify(tool).length);
  const needs = results.map(({ query, tools }) => ({ query, tools: tools.map(({ id }) => id) }));
  const [first] = results;
  return JSON.stringify({
    tools: shown,
    ...(needs.length > 1 ? { needs } : {}),
    ...(left > 0 ? { notShown: left } : {}),
    ...(found.size === 0 && first ? overview(first.query, toolbox.catalog) : {}),
    ...(broken.size > 0 ? { notCallable: Object.fromEntries(broken) } : {}),
    ...(notSearched.size > 0 ? { notSearched: Object.fromEntries(notSearched) } : {}),
  });
}
