/** Completes a search answer: full details of tools, an overview if nothing was found, and unavailable servers. */
import { isObject } from "../../base/json-object.ts";
import { requiredArguments } from "../../base/json-schema.ts";
import { nearNames } from "../../base/near-names.ts";
import { oneLine } from "../../base/visible-text.ts";
import type { Pool } from "../../servers/pool.ts";
import { stateProblem } from "../../servers/state.ts";
import { briefSignature } from "../brief-signature.ts";
import type { ToolCatalog } from "../catalog/tool-catalog.ts";
import { type RegistryServer, type RegistryTool, toolId } from "../model.ts";
import { callPath, effectsOf, isObserved, resultText, resultType, signature } from "../signature.ts";
import { type FoundTool, type SearchResult, serverIn } from "./search.ts";
import { listSkills, skillId } from "./skills.ts";
import { actOf } from "./thesaurus.ts";
import { stemOf, wordsOf } from "./tokenize.ts";

/** The details of each tool: enough to choose, enough to call, or everything. */
export const details = ["names", "signatures", "full"] as const;

/** Servers listed for the same tool. */
const maxAlsoServers = 5;

/** A longer call shows only its required arguments. */
const maxAnswerCallChars = 200;

/** A longer signature is shown as a brief call with the names of the result's fields. */
const maxCompanionChars = 200;

/** With at most this many tools, a search without matches lists all of them, because the agent chooses better than a word search. */
const maxListedIds = 16;

/** Names that are suggested for a name that no tool has. */
const maxNearIds = 3;

export type Detail = (typeof details)[number];

/** The example call if it tells more than the signature. */
export function tellingExample({ example, exampleTells }: FoundTool): string | undefined {
  return exampleTells ? example : undefined;
}

/** `account ada; also: other.find (account bob) and more`. */
export function alsoText({ server, name, also = [], accounts = {} }: FoundTool): string | undefined {
  const ofServer = (each: string) => (Object.hasOwn(accounts, each) ? `account ${accounts[each]}` : undefined);
  const shown = also.slice(0, maxAlsoServers).map((id) => {
    const account = ofServer(serverIn(id, name));
    return account === undefined ? id : `${id} (${account})`;
  });
  const others =
    shown.length === 0 ? undefined : `also: ${shown.join(", ")}${also.length > maxAlsoServers ? " and more" : ""}`;
  return [ofServer(server), others].filter(Boolean).join("; ") || undefined;
}

/** `demo.list_orders({ status?, limit?: number })`: a call with its arguments, where one without a type is a string. */
export function briefCall(found: FoundTool, catalog: ToolCatalog): string {
  const entry = entryOf(found, catalog);
  if (!entry) return found.kind === "skill" ? found.signature : found.id;
  return briefText(entry.server, entry.tool);
}

function briefText(server: RegistryServer, tool: RegistryTool): string {
  const path = callPath(server, tool);
  const call = `${path}${briefSignature(tool).args}`;
  if (call.length <= maxAnswerCallChars) return oneLine(call, maxAnswerCallChars);
  return oneLine(
    `${path}${briefSignature(withRequiredArguments(tool)).args}`.replace(/ \}\)$/, ", … })"),
    maxAnswerCallChars,
  );
}

/** `channel_id from slack.list_channels(…): …`, for the ids that a tool requires, by the ids of the tools that give them. */
export function companionTexts(found: FoundTool, catalog: ToolCatalog): Map<string, string> {
  const entry = entryOf(found, catalog);
  if (!entry) return new Map();
  const { server, tool } = entry;
  const texts = companionsOf(tool, server).map(({ argument, tool: companion }): [string, string] => {
    const whole = signature(server, companion);
    const { outline } = briefSignature(companion);
    const brief = `${briefText(server, companion)}${outline === undefined ? "" : `: ${outline}`}`;
    const call = oneLine(whole.length > maxCompanionChars ? brief : whole, 2 * maxCompanionChars);
    return [toolId(server.name, companion.name), `${oneLine(argument, 60)} from ${call}`];
  });
  return new Map(texts);
}

function withRequiredArguments(tool: RegistryTool): RegistryTool {
  const { inputSchema } = tool;
  const { properties } = inputSchema;
  if (!isObject(properties)) return tool;
  const required = requiredArguments(inputSchema, inputSchema);
  const kept = Object.fromEntries(Object.entries(properties).filter(([name]) => required.has(name)));
  return { ...tool, inputSchema: { ...inputSchema, properties: kept } };
}

/** The registry's entry of a found tool. Undefined for a saved function, and if the server has lost the tool since. */
function entryOf({ kind, server: name, name: toolName }: FoundTool, catalog: ToolCatalog) {
  const server = kind === "tool" ? catalog.visibleServers.find((each) => each.name === name) : undefined;
  const tool = server?.tools.find((each) => each.name === toolName);
  // The config may have given the server another name in code since it was listed.
  return server && tool && { server: { ...server, jsName: catalog.jsNameOf(name) }, tool };
}

/** A tool with its whole description and schemas. It has no signature, because the schemas contain everything in it. */
export interface FullTool extends Pick<RegistryTool, "description" | "inputSchema" | "outputSchema"> {
  id: string;
  /** The expression that calls it, if that is not its id. For a function of the workspace, its signature. */
  call?: string;
  /** The type of the result, if no schema declares it. */
  result?: string;
  /** A call that shows more than the schema. For a function of the workspace, its import. */
  example?: string;
  /** The server's claims about the effects of a call. */
  effects?: string;
  also?: string[];
  accounts?: Record<string, string>;
}

export function fullTool(found: FoundTool, catalog: ToolCatalog): FullTool {
  const { id, example, also, accounts } = found;
  const entry = entryOf(found, catalog);
  if (!entry) {
    const skill = listSkills(catalog.config.folders).find((each) => skillId(each) === id);
    const description = skill?.description ?? found.description;
    return { id, call: found.signature, description, inputSchema: {}, example };
  }
  const { server, tool } = entry;
  const call = callPath(server, tool);
  const telling = tellingExample(found);
  const effects = effectsOf(tool);
  return {
    id,
    ...(call === id ? {} : { call }),
    description: tool.description,
    inputSchema: tool.inputSchema,
    ...declaredOrSeen(tool),
    ...(telling === undefined ? {} : { example: telling }),
    ...(effects === "" ? {} : { effects }),
    ...(also ? { also } : {}),
    ...(accounts ? { accounts } : {}),
  };
}

function declaredOrSeen(tool: RegistryTool): Pick<FullTool, "outputSchema" | "result"> {
  const { outputSchema } = tool;
  if (outputSchema && !isObserved(tool)) return { outputSchema };
  return resultType(tool) === undefined ? {} : { result: resultText(tool) };
}

interface Overview {
  /** Ids of tools with names similar to the query. */
  near: string[];
  /** Ids of all tools, if they are few. */
  all?: string[];
  /** Servers with known tools, the largest first. */
  servers: { server: string; tools: number; description: string }[];
}

/** The answer to a query without matches. */
export function overview(query: string, { visibleServers: known }: ToolCatalog): Overview {
  const all = known.flatMap(({ name, tools }) => tools.map((tool) => toolId(name, tool.name)));
  const ids = new Map(known.flatMap(({ name, tools }) => tools.map((tool) => [tool.name, toolId(name, tool.name)])));
  const words = [query, ...query.split(/\s+/).filter((word) => word.length > 3)];
  const near = new Set(words.flatMap((word) => nearNames(word, ids.keys(), maxNearIds)));
  return {
    near: [...near].slice(0, maxNearIds).map((name) => ids.get(name)!),
    ...(all.length > 0 && all.length <= maxListedIds ? { all } : {}),
    servers: known
      .map(({ name, tools, description }) => ({ server: name, tools: tools.length, description }))
      .sort((a, b) => b.tools - a.tools || (a.server < b.server ? -1 : 1)),
  };
}

/** Why servers of found tools cannot be called now. `known` has problems that another process has met. */
export function notCallable(
  { tools }: SearchResult,
  { pool, catalog: { config } }: { pool: Pool; catalog: ToolCatalog },
  known: ReadonlyMap<string, string> = new Map(),
): Map<string, string> {
  const problems = new Map<string, string>();
  for (const { kind, server } of tools) {
    if (kind !== "tool" || !config.servers.has(server)) continue;
    const problem = stateProblem(pool.state(server)) ?? known.get(server);
    if (problem !== undefined) problems.set(server, problem);
  }
  return problems;
}

/** The last words of arguments that take an id. */
const idWords = new Set(["id", "ids", "uuid", "gid", "iid", "key", "keys", "number", "slug"]);

/** Verbs of tools that return several things. */
const listingVerbs = new Set(["list", "search", "find", "query", "browse", "enumerate", "lookup"].map(stemOf));

interface Companion {
  /** The argument whose value it gives. */
  argument: string;
  tool: RegistryTool;
}

/** For each required id, the tool of the same server that lists the things with this id, if there is one. */
function companionsOf(tool: RegistryTool, server: RegistryServer): Companion[] {
  const ids = [...requiredArguments(tool.inputSchema, tool.inputSchema)];
  return ids.flatMap((argument) => {
    const thing = thingOf(argument, tool);
    if (thing === undefined) return [];
    const lists = server.tools.filter((each) => each !== tool && listsThings(each, thing, argument));
    const [best] = lists.sort((a, b) => effortOf(a) - effortOf(b) || (a.name < b.name ? -1 : 1));
    return best ? [{ argument, tool: best }] : [];
  });
}

/** The stem of what an argument identifies: `channel` for `channel_id`, and for a `channel` that is described as an id. */
function thingOf(argument: string, { name, inputSchema }: RegistryTool): string | undefined {
  const words = wordsOf(argument);
  const isId = idWords.has(words.at(-1) ?? "");
  if (isId && words.length > 1) return stemOf(words.at(-2)!);
  // For a plain `id`, the name of the tool says which thing it identifies: `get_order({ id })`.
  if (isId)
    return wordsOf(name)
      .map(stemOf)
      .findLast((stem) => actOf(stem) === undefined);
  const { properties } = inputSchema;
  const schema = isObject(properties) ? properties[argument] : undefined;
  const description = isObject(schema) ? schema["description"] : undefined;
  const isDescribedAsId = typeof description === "string" && /\b(?:id|ids|uuid)\b/i.test(description.slice(0, 200));
  return isDescribedAsId && words.length > 0 ? stemOf(words.at(-1)!) : undefined;
}

/** Whether a tool lists things without their ids. */
function listsThings({ name, inputSchema }: RegistryTool, thing: string, argument: string): boolean {
  if (requiredArguments(inputSchema, inputSchema).has(argument)) return false;
  const words = wordsOf(name);
  const at = words.findIndex((word) => stemOf(word) === thing);
  if (at === -1) return false;
  // `list_channel_members` lists members.
  const isSubject = at === words.length - 1 || actOf(stemOf(words[at + 1]!)) !== undefined;
  const isPlural = words[at]!.endsWith("s");
  const verbs = words.map(stemOf);
  return (
    isSubject &&
    (verbs.some((verb) => listingVerbs.has(verb)) || (isPlural && verbs.some((verb) => actOf(verb) === "read")))
  );
}

/** A tool with fewer required arguments is called sooner; a list needs no words to search for. */
function effortOf({ name, inputSchema }: RegistryTool): number {
  const isList = wordsOf(name).includes("list");
  return requiredArguments(inputSchema, inputSchema).size + (isList ? 0 : 0.5);
}
