/** The instructions in direct mode: the servers, and which of them cannot be used. */
import { stateText } from "../../clients/state.ts";
import type { Toolbox } from "../../toolbox/toolbox.ts";

/** Agents cut instructions at 2,048 characters. Servers that do not fit are counted. */
const budget = 1_500;

export function directInstructions(toolbox: Toolbox): string {
  const entries = [...toolbox.config.servers.values()].map(({ name, description }) => {
    const state = toolbox.pool.state(name);
    const tools = toolbox.catalog.find(name)?.tools.length;
    const facts = state.state === "needs" ? `not offered: ${stateText(state)}` : tools === undefined ? "" : `${tools}`;
    return [name, facts && ` (${facts})`, description ? `: ${description}` : ""].join("");
  });
  let text = "Tools, resources and prompts of these MCP servers, passed through unchanged.";
  for (const [index, entry] of entries.entries()) {
    const next = `${text}\n- ${entry}`;
    if (next.length > budget) return `${text}\n- and ${entries.length - index} more servers`;
    text = next;
  }
  return text;
}
