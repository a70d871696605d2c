/** Doctor checks of the servers without starting them: which tools are held, which agents share a server, and how their sandboxes are made. */
import { counted } from "../../base/counted.ts";
import { shellWord } from "../../base/shell-word.ts";
import { outerServers } from "../../config/saved-programs.ts";
import { isSharedAgainstDefault, privateReason, sessionOf } from "../../tools/catalog/session-of.ts";
import { heldServers, suspiciousTools } from "../../tools/definitions/review.ts";
import { toolId } from "../../tools/model.ts";
import { type CheckContext, type CheckParts, type Finding, findingsOf } from "./finding.ts";

const { ok, warning } = findingsOf("servers");

export function definitionFindings({ config }: CheckParts, { env, serverFolder: cwd }: CheckContext): Finding[] {
  const surroundings = { config, env, cwd };
  return [
    ...heldServers(surroundings).map(({ server, tools }) =>
      warning(
        `definitions.${server}`,
        `${counted(tools.length, "tool")} of ${server} changed after you accepted them: ${tools.map(({ tool }) => tool).join(", ")}`,
        `claudikins review ${shellWord(server)}`,
      ),
    ),
    ...suspiciousTools(surroundings).map(({ server, tool, suspicions }) =>
      warning(
        `definitions.${server}.${tool}`,
        `The definition of ${toolId(server, tool)} ${suspicions.join(", ")}. This may be harmless`,
        undefined,
        { details: [`Read it: claudikins search ${shellWord(toolId(server, tool))} --detail full`] },
      ),
    ),
  ];
}

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

/** The checks of servers say whether a sandbox can be made at all. */
export function boxFindings({ config }: CheckParts): Finding[] {
  const names = outerServers(config)
    .filter(({ box }) => box)
    .map(({ name }) => name);
  if (names.length === 0 || process.getuid?.() !== 0) return [];
  const text = `claudikins runs as root, which weakens the sandboxes of servers: ${names.join(", ")}`;
  return [
    warning("sandbox.root", text, "Run claudikins as another user. This is true of containers, too.", {
      details: [
        "files: a server reads those of root in what its entry opens, and can make files there that run with the rights of root",
        "devices: a server can change who may use /dev/null and its like",
        'sockets: what listens in the places that its entry opens, or with "network": true in abstract sockets, sees root',
      ],
    }),
  ];
}
