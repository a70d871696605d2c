/** The agents on this machine that start claudikins, each with its door. */
import { objectAt } from "../../base/json-object.ts";
import { parseFile } from "../../config/edit/editor.ts";
import { findServers } from "./find-servers.ts";
import { agents } from "./supported/agents.ts";
import { commandLineOf, doorOf } from "./supported/claudikins-entry.ts";
import type { AgentSurroundings } from "./supported/model.ts";

/** The titles of the agents by the names of doors, for entries that name no other config. */
export async function agentsByDoor(
  surroundings: AgentSurroundings,
  config: string | null,
): Promise<Map<string, string[]>> {
  const { files } = await findServers(agents, { ...surroundings, project: true });
  const used = files.flatMap(({ agent, file, content, own }) => {
    const document = parseFile(content.text, file);
    return own.flatMap(({ section, name }) => {
      const words = commandLineOf(objectAt(document, [...section, name]));
      const named = words[words.indexOf("--config") + 1];
      if (words.includes("--config") && named !== config) return [];
      const door = doorOf(words);
      return door === undefined ? [] : [{ door, title: agent.title }];
    });
  });
  const byDoor = Map.groupBy(used, ({ door }) => door);
  return new Map([...byDoor].map(([door, all]) => [door, [...new Set(all.map(({ title }) => title))]]));
}
