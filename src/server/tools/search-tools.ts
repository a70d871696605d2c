/** The MCP tool `search_tools`: words in, signatures out. */
import type { CallToolResult, Tool } from "@modelcontextprotocol/sdk/types.js";
import { lookAtUnknownServers, stateProblem } from "../../flows/first-look.ts";
import { type SearchResult, search } from "../../flows/search.ts";
import type { Toolbox } from "../../flows/toolbox.ts";

const defaultLimit = 5;
const maxLimit = 50;

export const searchTools: Tool = {
  name: "search_tools",
  title: "Search tools",
  description:
    "Find tools of the user's MCP servers by what they do. Gives each tool's exact signature, to be called in execute_code.",
  inputSchema: {
    type: "object",
    properties: {
      query: {
        type: "string",
        description: "What the tool should do, in a few words. With server:name, of that server only",
      },
      limit: { type: "integer", minimum: 1, maximum: maxLimit, default: defaultLimit },
    },
    required: ["query"],
  },
  annotations: { readOnlyHint: true, openWorldHint: false },
};

/** Servers that the registry does not know are asked now, all at once; one that is slow or broken is named and not waited for. */
export async function callSearchTools(
  args: Record<string, unknown>,
  toolbox: Toolbox,
  signal: AbortSignal,
): Promise<CallToolResult> {
  const { query, limit = defaultLimit } = args;
  if (typeof query !== "string" || query.trim() === "")
    return refusal('search_tools needs "query": a few words, for example { "query": "list open issues" }');
  if (!Number.isInteger(limit) || Number(limit) < 1)
    return refusal(`"limit" must be a whole number from 1 to ${maxLimit}`);
  const problems = await lookAtUnknownServers(toolbox, signal);
  const result = search(query, Math.min(Number(limit), maxLimit), toolbox);
  return { content: [{ type: "text", text: resultText(result, problems, toolbox) }] };
}

function resultText(
  { tools, searched }: SearchResult,
  problems: ReadonlyMap<string, string>,
  { pool }: Toolbox,
): string {
  const found = tools.map(({ kind, signature, description, example, also }) =>
    [kind === "skill" ? `${signature} // ${example}` : signature, description, alsoText(also)]
      .filter(Boolean)
      .join("\n  "),
  );
  const lines = found.length > 0 ? found : [`No tool of ${searched} matches. Try other words for what it should do.`];
  const missing = [...problems].map(([name, problem]) => `Not searched: ${name} (${problem})`);
  // Their tools are known from before.
  const callable = new Set(tools.filter(({ kind }) => kind === "tool").map(({ server }) => server));
  const broken = [...callable].flatMap((name) => {
    const problem = problems.has(name) ? undefined : stateProblem(pool.state(name));
    return problem === undefined ? [] : [`Not callable now: ${name} (${problem})`];
  });
  return [...lines, ...broken, ...missing].join("\n");
}

/** The same tool on other servers: one account each, for example. */
function alsoText(ids: string[] = []): string {
  return ids.length > 0 ? `also: ${ids.join(", ")}` : "";
}

function refusal(text: string): CallToolResult {
  return { content: [{ type: "text", text }], isError: true };
}
