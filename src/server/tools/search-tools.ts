/** The MCP tool `search_tools`: finds signatures by words. */
import type { CallToolResult, Tool } from "@modelcontextprotocol/sdk/types.js";
import { stateProblem } from "../../clients/state.ts";
import { ClaudikinsError } from "../../errors.ts";
import { firstSentence } from "../../registry/signature.ts";
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

const defaultLimit = 5;
const maxLimit = 50;

export const searchTools: Tool = {
  name: "search_tools",
  title: "Search tools",
  description:
    "Find tools of the user's MCP servers by what they do. Returns each tool's exact signature, to call in execute_code.",
  inputSchema: {
    type: "object",
    properties: {
      query: {
        type: "string",
        description: "What the tool should do, in a few words. server:name searches only that server",
      },
      limit: { type: "integer", minimum: 1, maximum: maxLimit, default: defaultLimit },
      detail: { type: "string", enum: [...details], default: "signatures", description: "full: JSON, with schemas" },
    },
    required: ["query"],
  },
  annotations: { readOnlyHint: true, openWorldHint: false },
};

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
  const { query, limit = defaultLimit, detail: wanted = "signatures" } = args;
  if (typeof query !== "string" || query.trim() === "")
    return answer('search_tools needs "query": a few words, for example { "query": "list open issues" }', true);
  if (!Number.isInteger(limit) || Number(limit) < 1)
    return answer(`"limit" must be a whole number from 1 to ${maxLimit}`, true);
  const detail = details.find((each) => each === wanted);
  if (!detail) return answer(`"detail" must be one of ${details.join(", ")}`, true);
  const problems = await toolbox.catalog.fetchMissing(signal);
  await prepareSearch(toolbox.catalog);
  try {
    const result = search(query, Math.min(Number(limit), maxLimit), toolbox.catalog);
    const broken = notCallable(result, toolbox, problems);
    const isWanted = (name: string) => result.tools.length === 0 || isNamedIn(query, name);
    const missing = { notCallable: untold(broken, told, isWanted), notSearched: untold(problems, told, isWanted) };
    // A server that recovered may be named again later.
    for (const name of told) if (!problems.has(name) && isWell(name, toolbox)) told.delete(name);
    for (const name of [...broken.keys(), ...problems.keys()]) told.add(name);
    const text = detail === "full" ? fullText(result, missing, toolbox) : linesText(result, detail, missing, toolbox);
    return answer(text);
  } catch (error) {
    // If the query names a server that cannot be used now, the reason is the answer.
    if (!(error instanceof ClaudikinsError) || error.code !== "SERVER_NOT_FOUND") throw error;
    return answer(
      [error.message, error.hint, ...problemLines({ notSearched: problems })].filter(Boolean).join("\n"),
      true,
    );
  }
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

function answer(text: string, isError = false): CallToolResult {
  return { content: [{ type: "text", text }], ...(isError ? { isError } : {}) };
}

interface Missing {
  /** Servers whose tools were found in their stored state. */
  notCallable?: ReadonlyMap<string, string>;
  notSearched: ReadonlyMap<string, string>;
}

function linesText(result: SearchResult, detail: Detail, missing: Missing, toolbox: Toolbox): string {
  const entry = detail === "names" ? nameLine : signatureLines;
  const { shown, left } = within(toolbox.config.limits.outputChars, result.tools.map(entry), ({ length }) => length);
  const more = left > 0 ? [`${left} more did not fit: lower "limit", or set "detail" to "names"`] : [];
  const lines = result.tools.length > 0 ? [...shown, ...more] : nothingFound(result, toolbox);
  return [...lines, ...problemLines(missing)].join("\n");
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
    `No tool of ${searched} matches. Try other words for what it should do, or server:name for all tools of one server.`,
    ...(near.length > 0 ? [`Similar names: ${near.join(", ")}`] : []),
    ...(shown.length > 0 ? [`Servers with tools: ${[...shown, ...more].join("; ")}`] : []),
  ];
}

function problemLines({ notCallable: broken = new Map(), notSearched }: Missing): string[] {
  const lines = (text: string, problems: ReadonlyMap<string, string>) =>
    [...problems].map(([name, problem]) => `${text}: ${name} (${problem})`);
  return [...lines("Not callable now", broken), ...lines("Not searched", notSearched)];
}

function fullText(
  result: SearchResult,
  { notCallable: broken = new Map(), notSearched }: Missing,
  toolbox: Toolbox,
): string {
  const { tools, query } = result;
  const all = tools.map((found) => fullTool(found, toolbox.catalog));
  const { shown, left } = within(toolbox.config.limits.outputChars, all, (tool) => JSON.stringify(tool).length);
  return JSON.stringify({
    tools: shown,
    ...(left > 0 ? { notShown: left } : {}),
    ...(tools.length === 0 ? overview(query, toolbox.catalog) : {}),
    ...(broken.size > 0 ? { notCallable: Object.fromEntries(broken) } : {}),
    ...(notSearched.size > 0 ? { notSearched: Object.fromEntries(notSearched) } : {}),
  });
}
