/** What somebody calls a tool by → its server and its name. Server names may have dots, as may tools'. */
import { ClaudikinsError } from "../errors.ts";
import { didYouMean, nearNames } from "../near-names.ts";
import { toolId } from "../registry/model.ts";
import { notAnArgument } from "./call-arguments.ts";
import type { Parts } from "./parts.ts";

export interface Target {
  server: string;
  /** As it was written. */
  tool: string;
}

/**
 * `server.tool`, or the two in `words` of their own. Of the config's names the longest that fits counts; names in code are
 * names as well. Throws SERVER_NOT_FOUND, and TOOL_NOT_FOUND where only a server is named.
 */
export function targetOf(words: { target: string; tool?: string | undefined }, parts: Parts): Target {
  const { target } = words;
  const fitting = parts.catalog.names
    .flatMap(({ name, jsName }) =>
      [name, ...(jsName === undefined ? [] : [jsName])].map((written) => ({ name, written })),
    )
    .filter(({ written }) => target === written || target.startsWith(`${written}.`))
    .sort((a, b) => b.written.length - a.written.length);
  const [longest] = fitting;
  const exact = fitting.find(({ written }) => target === written);
  if (words.tool !== undefined) {
    if (exact) return { server: exact.name, tool: words.tool };
    throw longest ? notAnArgument(words.tool) : unknownServer(target, `${target}.${words.tool}`, parts);
  }
  const found = fitting.find(({ written }) => target.length > written.length + 1);
  if (found) return { server: found.name, tool: target.slice(found.written.length + 1) };
  throw longest ? missingTool(longest.name, parts) : unknownServer(target, target, parts);
}

/** Of a tool that its server does not have. */
export function unknownTool({ server, tool }: Target, parts: Parts): ClaudikinsError {
  const ids = idsOf([server], parts);
  return new ClaudikinsError("TOOL_NOT_FOUND", `${server} has no tool "${tool}"`, {
    hint: didYouMean(toolId(server, tool), ids) ?? someOf(ids) ?? "It has no tools.",
  });
}

function missingTool(server: string, parts: Parts): ClaudikinsError {
  const ids = idsOf([server], parts);
  return new ClaudikinsError("TOOL_NOT_FOUND", `${server} is a server: add the name of a tool`, {
    hint: someOf(ids) ?? `To see them: claudikins list tools ${server}`,
  });
}

/** `whole` has the tool as well, where one was written. */
function unknownServer(written: string, whole: string, parts: Parts): ClaudikinsError {
  const servers = [...parts.config.servers.keys()];
  const [server = written] = written.split(".", 1);
  const hint =
    didYouMean(whole, idsOf(servers, parts)) ??
    (whole.includes(".") ? undefined : toolsCalled(whole, parts)) ??
    didYouMean(server, servers) ??
    (servers.length > 0 ? `Servers: ${servers.slice(0, maxNames).join(", ")}` : "The config has no servers.");
  return new ClaudikinsError("SERVER_NOT_FOUND", `No server is called "${server}"`, { hint });
}

/** For who wrote a tool's name alone. */
function toolsCalled(written: string, parts: Parts): string | undefined {
  const tools = parts.catalog.names.flatMap(({ name: server }) =>
    (parts.catalog.find(server)?.tools ?? []).map(({ name }) => ({ name, id: toolId(server, name) })),
  );
  const near = nearNames(written, new Set(tools.map(({ name }) => name)));
  const ids = near.flatMap((name) => tools.filter((tool) => tool.name === name).map(({ id }) => id));
  return ids.length > 0 ? `Did you mean ${ids.slice(0, 3).join(" or ")}?` : undefined;
}

/** Names that an error tells at most. */
const maxNames = 20;

function someOf(ids: string[]): string | undefined {
  if (ids.length === 0) return undefined;
  const more = ids.length > maxNames ? ` and ${ids.length - maxNames} more` : "";
  return `Available: ${ids.slice(0, maxNames).join(", ")}${more}`;
}

/** Of the tools that may be shown. */
function idsOf(servers: string[], parts: Parts): string[] {
  return servers.flatMap((server) => parts.catalog.find(server)?.tools.map(({ name }) => toolId(server, name)) ?? []);
}
