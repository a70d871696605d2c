/** What a host tells its model about us: which servers there are, and how to work with them. */
import type { Toolbox } from "../flows/toolbox.ts";

/** Hosts cut it at 2,048 characters; names that do not fit are counted. */
const budget = 1_500;

export function instructionsFor(toolbox: Toolbox): string {
  const entries = [...toolbox.config.servers.values()].map(({ name, description }) => {
    const tools = toolbox.known(name)?.tools.length;
    return [name, tools === undefined ? "" : ` (${tools})`, description ? `: ${description}` : ""].join("");
  });
  const head =
    "Tools of these MCP servers: find them with search_tools, call them in execute_code as `await server.tool(args)`.";
  let text = head;
  for (const [index, entry] of entries.entries()) {
    const next = `${text}\n- ${entry}`;
    if (next.length > budget) return `${text}\n- and ${entries.length - index} more servers`;
    text = next;
  }
  return text;
}
