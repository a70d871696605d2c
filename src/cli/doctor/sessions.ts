/** Doctor check of how agents share the servers: which are private, and which mix up the agents that share them. */
import { outerServers } from "../../config/saved-programs.ts";
import { isSharedAgainstDefault, privateReason, sessionOf } from "../../tools/catalog/session-of.ts";
import { type CheckParts, type Finding, findingsOf } from "./finding.ts";

const { ok, warning } = findingsOf("servers");

export async function sessionFindings({ config, catalog }: CheckParts): Promise<Finding[]> {
  const servers = outerServers(config).filter(({ name }) => !catalog.isClosed(name));
  const found = await Promise.all(
    servers.map(async (server) => {
      const tools = catalog.toolNames(server.name);
      const { session } = await sessionOf(server, tools);
      return { name: server.name, session, isMixed: await isSharedAgainstDefault(server, tools) };
    }),
  );
  const own = found.filter(({ session }) => session === "private").map(({ name }) => name);
  const mixed = found.filter(({ isMixed }) => isMixed);
  return [
    ...(own.length === 0 ? [] : [ok("servers.private", `Each agent has a process of its own: ${own.join(", ")}`)]),
    ...mixed.map(({ name }) =>
      warning(
        `session.${name}`,
        `All agents share ${name}, which ${privateReason}: they mix it up`,
        `Remove "session": "shared" from mcpServers.${name}: each agent then has a process of its own.`,
      ),
    ),
  ];
}
