/**
 * `tools.search`, `tools.describe` and `tools.list`: questions of a program about the tools. Only servers whose tools are not known
 * are started.
 */

import { ClaudikinsError } from "../base/errors.ts";
import { eventLoopTurn } from "../base/event-loop.ts";
import { didYouMean } from "../base/near-names.ts";
import { hintForModel } from "../servers/failures/fault.ts";
import { stateProblem } from "../servers/state.ts";
import { findTool, type RegistryServer, type RegistryTool } from "../tools/model.ts";
import { prepareSearch, search } from "../tools/search/search.ts";
import { notCallable } from "../tools/search/search-answer.ts";
import { importOf, listSkills, type Skill, skillId } from "../tools/search/skills.ts";
import { exampleCall, firstSentence, signature } from "../tools/signature.ts";
import type { Parts } from "./parts.ts";
import { ownPrograms, type WithPrograms } from "./saved/own-programs.ts";
import type { RequestingProgram } from "./saved/requesting-program.ts";

/** Tools that `tools.search` finds, if the program sets no limit. */
const defaultToolsSearchLimit = 10;

/** The highest limit that the program may set. */
const maxToolsSearchLimit = 100;

/** The parts, and the saved programs of a caller who is not the user. */
type SeenParts = Parts & { own: RegistryServer | undefined };

/** The name of the skills in the list of servers. */
const skillsName = "./skills";

/** Throws INVALID_ARGUMENTS, SERVER_NOT_FOUND or TOOL_NOT_FOUND. */
export async function registryFunction(
  name: string,
  args: Record<string, unknown>,
  parts: Parts,
  signal: AbortSignal,
  caller?: Pick<RequestingProgram, "program" | "starter">,
): Promise<unknown> {
  // A program may ask a thousand questions at once.
  await eventLoopTurn();
  const only = name === "list" ? serverNamed(args["server"], parts) : undefined;
  const problems = await parts.catalog.listMissing(signal, { only: only === undefined ? undefined : [only] });
  await parts.catalog.observer.settleAll();
  const { own, withPrograms } = await ownPrograms(caller, parts);
  const seen = { ...parts, own };
  switch (name) {
    case "search":
      await prepareSearch(parts.catalog);
      return {
        found: searchTools(args["query"], args["limit"], withPrograms, seen),
        notSearched: Object.fromEntries(problems),
      };
    case "describe":
      await readAgain(args["id"], seen, signal);
      return describeTool(args["id"], seen);
    case "list":
      return args["server"] === undefined ? listServers(seen, problems) : listTools(args["server"], seen, problems);
    default:
      throw new ClaudikinsError("TOOL_NOT_FOUND", `tools has no function "${name}": it has search, describe and list`);
  }
}

function searchTools(query: unknown, limit: unknown, withPrograms: WithPrograms, parts: SeenParts): object[] {
  if (typeof query !== "string" || query.trim() === "") {
    throw new ClaudikinsError("INVALID_ARGUMENTS", 'tools.search takes words: await tools.search("refund an order")');
  }
  const count = Number.isInteger(limit)
    ? Math.min(Math.max(Number(limit), 1), maxToolsSearchLimit)
    : defaultToolsSearchLimit;
  const result = withPrograms(search(query, count, parts.catalog), count);
  const problems = notCallable(result, parts);
  return result.tools.map(({ id, server, description, signature: call, example }) => {
    const problem = problems.get(server);
    return { id, description, signature: call, example, ...(problem ? { problem } : {}) };
  });
}

/** A tool that is not known may have been added since. */
async function readAgain(id: unknown, parts: SeenParts, signal: AbortSignal): Promise<void> {
  if (typeof id !== "string" || toolWithId(id, parts)) return;
  const server = fittingServers(id, parts).find(({ name }) => !parts.catalog.isClosed(name));
  if (server && parts.pool.announcesTools(server.name)) await parts.catalog.verify(server.name, signal).catch(() => {});
}

function describeTool(id: unknown, parts: SeenParts): object {
  if (typeof id !== "string")
    throw new ClaudikinsError("INVALID_ARGUMENTS", 'tools.describe takes an id: "server.tool"');
  const found = toolWithId(id, parts);
  if (found) return described(found.server, found.tool, stateProblem(parts.pool.state(found.server.name)));
  const skill = listSkills(parts.config.folders).find((each) => skillId(each) === id.replace(/^\.\//, ""));
  if (skill) return describedSkill(skill);
  const all = knownServers(parts).flatMap((server) => server.tools.map((tool) => `${server.name}.${tool.name}`));
  throw new ClaudikinsError("TOOL_NOT_FOUND", `No tool has the id "${id}"`, {
    hint: didYouMean(id, all) ?? "Find ids with tools.search or tools.list.",
  });
}

/**
 * The longest matching name of a server wins, as for `claudikins call`, so that a server cannot name a tool like one of another server.
 * The own name of a tool has precedence over its name in code.
 */
function toolWithId(id: string, parts: SeenParts): { server: RegistryServer; tool: RegistryTool } | undefined {
  for (const { name, written } of fittingServers(id, parts)) {
    const server = knownServers(parts).find((each) => each.name === name);
    if (!server) return undefined;
    const tool = findTool(server, id.slice(written.length + 1));
    if (tool) return { server, tool };
  }
  return undefined;
}

function fittingServers(id: string, { catalog }: Pick<Parts, "catalog">): { name: string; written: string }[] {
  return catalog.names
    .flatMap(({ name, jsName }) =>
      [name, ...(jsName === undefined ? [] : [jsName])].map((written) => ({ name, written })),
    )
    .filter(({ written }) => id.startsWith(`${written}.`))
    .sort((a, b) => b.written.length - a.written.length);
}

function describedSkill(skill: Skill): object {
  const { description, signature: call } = skill;
  return { id: skillId(skill), description, signature: call, example: importOf(skill) };
}

function described(server: RegistryServer, tool: RegistryTool, problem: string | undefined): object {
  const { description, inputSchema, outputSchema, observed, annotations } = tool;
  return {
    id: `${server.name}.${tool.name}`,
    description,
    signature: signature(server, tool),
    example: exampleCall(server, tool),
    inputSchema,
    ...(outputSchema ? { outputSchema } : {}),
    ...(observed ? { observed } : {}),
    ...(annotations ? { annotations } : {}),
    ...(problem ? { problem } : {}),
  };
}

function listServers(parts: SeenParts, problems: ReadonlyMap<string, string>): object[] {
  const skills = listSkills(parts.config.folders).map((skill) => `${skill.signature} // ${importOf(skill)}`);
  const servers = parts.catalog.names.map(({ name }) => {
    const known = serverFor(name, parts);
    const description = parts.config.servers.get(name)?.description;
    const isClosed = parts.catalog.isClosed(name) ? "denied in the config" : undefined;
    const problem = isClosed ?? problems.get(name) ?? stateProblem(parts.pool.state(name));
    return {
      server: name,
      ...(description ? { description } : {}),
      tools: known?.tools.map((tool) => tool.jsName ?? tool.name) ?? [],
      ...(known && !problem ? {} : { problem: problem ?? "its tools are not known" }),
    };
  });
  if (skills.length === 0) return servers;
  return [...servers, { server: skillsName, description: "functions saved in ./workspace/skills", tools: skills }];
}

/** The configured server with this name, or with this name in code. */
function serverNamed(name: unknown, { catalog }: Parts): string | undefined {
  return catalog.names.find((each) => each.name === name || each.jsName === name)?.name;
}

/** Throws SERVER_UNAVAILABLE if the tools of the server are not known, and SERVER_NOT_FOUND. */
function listTools(name: unknown, parts: SeenParts, problems: ReadonlyMap<string, string>): object[] {
  if (name === skillsName) {
    return listSkills(parts.config.folders).map(describedSkill);
  }
  const server = knownServers(parts).find((each) => each.name === name || each.jsName === name);
  const configured = serverNamed(name, parts);
  if (!server && configured !== undefined) {
    const fault = parts.pool.fault(configured);
    const why = fault?.why ?? problems.get(configured) ?? "its tools are not known";
    const hint = fault && hintForModel(fault);
    throw new ClaudikinsError("SERVER_UNAVAILABLE", `The tools of "${configured}" are not known: ${why}`, { hint });
  }
  if (!server) {
    const names = parts.catalog.names.map((each) => each.name);
    throw new ClaudikinsError("SERVER_NOT_FOUND", `No server is called "${String(name)}"`, {
      hint: didYouMean(String(name), names) ?? `Servers: ${names.join(", ") || "none"}`,
    });
  }
  return server.tools.map((tool) => ({
    id: `${server.name}.${tool.name}`,
    description: firstSentence(tool.description || tool.title || ""),
    signature: signature(server, tool),
  }));
}

/** The known servers with their current names in code. */
function knownServers(parts: SeenParts): RegistryServer[] {
  return parts.catalog.names.flatMap(({ name, jsName }) => {
    const server = serverFor(name, parts);
    return server ? [{ ...server, jsName }] : [];
  });
}

function serverFor(name: string, { catalog, own }: SeenParts): RegistryServer | undefined {
  return own?.name === name ? own : catalog.find(name);
}
