/** Finds the server and the tool that a written name means. Names of both may contain dots. */
import { ClaudikinsError } from "../errors.ts";
import { didYouMean, nearNames } from "../near-names.ts";
import { toolId } from "../registry/model.ts";
import { notAnArgument } from "./call-arguments.ts";
import type { Parts } from "./parts.ts";

export interface Target {
  server: string;
  /** The tool's name as it was written. */
  tool: string;
}

/**
 * Reads `server.tool`, or the two as separate words. The longest matching server name wins; names in code match as well. Throws
 * SERVER_NOT_FOUND, and TOOL_NOT_FOUND if only a server is named.
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

/** The error for a tool that its server does not have. */
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

/** `whole` includes the tool, if one was written. */
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

/** A hint for a tool name that was written without its server. */
function toolsCalled(written: string, parts: Parts): string | undefined {
  const tools = parts.catalog.names.flatMap(({ name: server }) =>
    (parts.catalog.find(server)?.tools ?? []).map(({ name }) => ({ name, id: toolId(server, name) })),
  );
  const near = nearNames(written, new Set(tools.map(({ name }) => name)));
  const ids = near.flatMap((name) => tools.filter((tool) => tool.name === name).map(({ id }) => id));
  return ids.length > 0 ? `Did you mean ${ids.slice(0, 3).join(" or ")}?` : undefined;
}

/** Maximum number of names in an error. */
const maxNames = 20;

function someOf(ids: string[]): string | undefined {
  if (ids.length === 0) return undefined;
  const more = ids.length > maxNames ? ` and ${ids.length - maxNames} more` : "";
  return `Available: ${ids.slice(0, maxNames).join(", ")}${more}`;
}

/** The ids of the known tools, without denied ones. */
function idsOf(servers: string[], parts: Parts): string[] {
  return servers.flatMap((server) => parts.catalog.find(server)?.tools.map(({ name }) => toolId(server, name)) ?? []);
}
