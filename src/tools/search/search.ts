/** Searches tools and skills. The results are ranked and contain what is needed to call them. No server is started. */

import { eventLoopTurn } from "../../base/event-loop.ts";
import {
  about,
  byName,
  list,
  named,
  number,
  oneOf,
  record,
  text,
  texts,
  type ValueOf,
  yesOrNo,
} from "../../base/json-shape.ts";
import { accountsOf } from "../../config/accounts.ts";
import type { ToolCatalog } from "../catalog/tool-catalog.ts";
import { minPreparedTools } from "../limits.ts";
import type { RegistryIndex, RegistryServer, RegistryTool } from "../model.ts";
import { withoutMark } from "../registry/hooks.ts";
import { exampleOf, firstSentence, signature, tellingSentences } from "../signature.ts";
import { runJobInTime } from "../work/run.ts";
import { foundOffer, type IndexedOffer, indexedOffers } from "./offers.ts";
import { listedTools, type Prepared as PreparedTools, preparedIn } from "./prepared-index.ts";
import { filtersOf } from "./query.ts";
import { importOf, listSkills, type Skill, skillId } from "./skills.ts";
import { wordsOf } from "./tokenize.ts";
import { type Match, ToolSearch } from "./tool-search.ts";

/**
 * If the descriptions of all tools together are longer, the index is made in a worker. Shorter ones are indexed within a few milliseconds.
 */
const maxDescriptionCharsInline = 100_000;

/** Share of the best score that a saved program needs to be named first. */
const minKeptShare = 0.5;

/** Time for a worker to prepare the index. Enough for 100,000 tools on a slow machine. */
const indexPrepareMs = 60_000;

/** `id` is `server.tool` with the original names, or `skills/report.topCustomers`. A skill's server is the path of its file. */
export const toolKeys = { id: text, server: text, name: text };

export const foundShape = named(
  "FoundTool",
  record({
    ...toolKeys,
    kind: oneOf("tool", "skill", "resource", "prompt"),
    description: text,
    signature: text,
    example: text,
    "exampleTells?": about("Whether the example tells more than the signature, such as the form of an id", yesOrNo),
    score: number,
    "also?": about("Ids of the same tool on other servers", texts),
    "accounts?": about(
      "The accounts of these servers and of the tool's own, by the names of the servers",
      byName(text),
    ),
  }),
);
export type FoundTool = ValueOf<typeof foundShape>;

/** The keys of a result beside the tools. */
export const resultKeys = {
  query: text,
  searched: about("Total number of tools and skills", number),
  notIndexed: about("Servers whose tools are not known yet", texts),
  outdated: about("Servers whose config entry has changed since they were listed", texts),
  "noServerFor?": about("Services that the query names, such as jira, and no tool or server does", texts),
};

const resultShape = record({ ...resultKeys, tools: list(foundShape) });
export type SearchResult = ValueOf<typeof resultShape>;

interface PreparedSearch {
  tools: ToolSearch;
  skills: Map<RegistryTool, Skill>;
  offers: Map<RegistryTool, IndexedOffer>;
  /** Identifies the skills, which may change at any time. */
  stamp: string;
}

const searches = new WeakMap<object, PreparedSearch>();

/**
 * Finds tools of configured servers only. A query may have filters: `server:github`, `category:ui`. With `servers` only these are
 * searched; an empty query then finds all of their tools. Throws REGISTRY_INVALID, and SERVER_NOT_FOUND for a filter with an
 * unknown server.
 */
export function search(
  query: string,
  limit: number,
  catalog: ToolCatalog,
  servers: readonly string[] = [],
): SearchResult {
  const { tools, skills, offers } = prepared(catalog);
  const indexed = new Set(catalog.index.servers.map((server) => server.name));
  const unknown = catalog.missingServers().filter((name) => !catalog.find(name));
  const notIndexed = unknown.filter((name) => !indexed.has(name));
  const services = servers.length > 0 ? [] : tools.missingServices(withoutMark(query));
  const configured = new Set([...catalog.config.servers.keys()].flatMap(wordsOf));
  const noServerFor = services.filter((service) => !configured.has(service));
  return {
    query,
    tools: keptFirst(foundIn(catalog, query, limit, servers), catalog).map(
      ({ id, server, tool, score, also }): FoundTool => {
        const skill = skills.get(tool);
        if (skill) return { ...foundSkill(skill), score };
        const offer = offers.get(tool);
        if (offer) return { ...foundOffer(offer), score };
        const twins = also.map((each) => serverIn(each, tool.name));
        const accounts = accountsOf([server.name, ...twins], catalog.config.servers);
        return { ...foundTool({ id, server, tool, score, also }), ...(accounts ? { accounts } : {}) };
      },
    ),
    searched: tools.size - offers.size,
    notIndexed,
    outdated: unknown.filter((name) => indexed.has(name)),
    ...(noServerFor.length > 0 ? { noServerFor } : {}),
  };
}

/** The matches with programs that were kept before the tools that they call, unless they match far worse. */
function keptFirst(matches: Match[], { config }: ToolCatalog): Match[] {
  const isKept = ({ server, score }: Match) =>
    config.servers.get(server.name)?.isSavedPrograms === true && score >= (matches[0]?.score ?? 0) * minKeptShare;
  return matches.some(isKept) ? [...matches.filter(isKept), ...matches.filter((each) => !isKept(each))] : matches;
}

/** A match in the form of a search answer. */
export function foundTool({ id, server, tool, score, also }: Match): FoundTool {
  return {
    kind: "tool",
    id,
    server: server.name,
    name: tool.name,
    description: tellingSentences(tool.description || tool.title || ""),
    signature: signature(server, tool),
    ...exampleOf(server, tool),
    score,
    ...(also.length > 0 ? { also } : {}),
  };
}

/** The best matches. Without words, they are a list of tools, in which nothing else belongs. */
function foundIn(catalog: ToolCatalog, query: string, limit: number, servers: readonly string[]): Match[] {
  const { offers } = prepared(catalog);
  const text = withoutMark(query);
  if (wordsOf(filtersOf(text).rest).length > 0) return matchesIn(catalog, text, limit, servers);
  const all = matchesIn(catalog, text, limit + offers.size, servers);
  return all.filter(({ tool }) => !offers.has(tool)).slice(0, limit);
}

/** A filter by a server whose tools are not known yet finds nothing there. */
function matchesIn(catalog: ToolCatalog, text: string, limit: number, servers: readonly string[]): Match[] {
  const { tools } = prepared(catalog);
  const { servers: filters, categories, rest } = filtersOf(text);
  const all = [...filters, ...servers.map((name) => name.toLowerCase())];
  if (all.length === 0) return tools.search(text, limit);
  const notIndexed = new Set(
    catalog.names
      .filter(({ name }) => catalog.freshness(name) === "unknown" && !catalog.isClosed(name))
      .flatMap(({ name, jsName = name }) => [name.toLowerCase(), jsName.toLowerCase()]),
  );
  const others = all.filter((name) => !notIndexed.has(name));
  if (others.length === all.length) return tools.search(text, limit, servers);
  if (others.length === 0) return [];
  return tools.search([rest, ...categories.map((name) => `category:"${name}"`)].join(" "), limit, others);
}

/** How many tools `search` would find without a limit. The same tool on several servers counts once. */
export function countFound(query: string, catalog: ToolCatalog, servers: readonly string[] = []): number {
  return foundIn(catalog, query, prepared(catalog).tools.size, servers).length;
}

/** The server in the id of a tool. */
export function serverIn(id: string, tool: string): string {
  return id.slice(0, -tool.length - 1);
}

/** A tool with its score. */
export type RankedTool = Pick<FoundTool, "server" | "name" | "score">;

/** All tools that match any of the words, best first. The same tool on several servers is listed for each. */
export function rankedTools(words: string, catalog: ToolCatalog): RankedTool[] {
  const { tools, skills, offers } = prepared(catalog);
  return tools
    .rank(words)
    .filter(({ tool }) => !skills.has(tool) && !offers.has(tool))
    .flatMap(({ server, tool, score, also }) => {
      const twins = also.map((id) => serverIn(id, tool.name));
      return [server.name, ...twins].map((each) => ({ server: each, name: tool.name, score }));
    });
}

/** Builds the index for the next search. With many tools that takes seconds, in a worker thread, so that other work can go on. */
export async function prepareSearch(catalog: ToolCatalog): Promise<void> {
  if (catalog.index.servers.length === 0) return;
  await catalog.observer.settleAll();
  const wanted = wantedIn(catalog);
  if (known(wanted)) return;
  if (isLittle(wanted)) return void prepared(catalog);
  const json = await runJobInTime({ work: "search", ...(await searchedPart(catalog, wanted)) }, indexPrepareMs);
  if (json === undefined) return;
  const tools = JSON.parse(json) as PreparedTools;
  await eventLoopTurn();
  make(wanted, tools);
  // The first search takes long, too.
  await eventLoopTurn();
}

/**
 * Writes the file from which other processes read the index, if there are so many tools that they would. This process does not make the
 * index for itself: with 10,000 tools that takes 60 MB more.
 */
export async function writeSearchFile(catalog: ToolCatalog): Promise<void> {
  const wanted = wantedIn(catalog);
  if (toolsOf(wanted) < minPreparedTools) return;
  await runJobInTime({ work: "search file", ...(await searchedPart(catalog, wanted)) }, indexPrepareMs);
}

/** Whether the index exists or can be built at once. */
export function isSearchQuick(catalog: ToolCatalog): boolean {
  const wanted = wantedIn(catalog);
  return known(wanted) !== undefined || isLittle(wanted);
}

function isLittle({ servers }: WantedSearch): boolean {
  const tools = servers.flatMap((server) => server.tools);
  if (tools.length >= minPreparedTools) return false;
  return tools.reduce((sum, { description }) => sum + description.length, 0) <= maxDescriptionCharsInline;
}

const toolsOf = ({ servers }: WantedSearch) => servers.reduce((sum, { tools }) => sum + tools.length, 0);

/** The input from which a worker makes the index. */
async function searchedPart({ config }: ToolCatalog, wanted: WantedSearch) {
  const servers: string[] = [];
  for (const server of wanted.servers) {
    servers.push(indexedPart(server));
    await eventLoopTurn();
  }
  return { folder: config.folders.registry, servers };
}

/** The parts of a server that are searched. */
function indexedPart({ tools, ...server }: RegistryServer): string {
  const indexed = tools.map(({ name, title, description, inputSchema }) => {
    return { name, title, description, inputSchema: { properties: inputSchema["properties"] } };
  });
  return JSON.stringify({ ...server, tools: indexed });
}

interface WantedSearch extends Pick<PreparedSearch, "skills" | "offers" | "stamp"> {
  index: RegistryIndex;
  servers: RegistryServer[];
}

function wantedIn(catalog: ToolCatalog): WantedSearch {
  const { index, config } = catalog;
  const found = listSkills(config.folders);
  const stamp = JSON.stringify(found);
  const skills = new Map(
    found.map((skill) => [
      { name: `${skill.from} ${skill.name}`, description: skill.description, inputSchema: {} },
      skill,
    ]),
  );
  const offers = new Map<RegistryTool, IndexedOffer>();
  const servers = configured(catalog).map((server): RegistryServer => {
    const own = indexedOffers(server);
    for (const [tool, offer] of own) offers.set(tool, offer);
    return own.length === 0 ? server : { ...server, tools: [...server.tools, ...own.map(([tool]) => tool)] };
  });
  if (skills.size > 0) servers.push(skillServer([...skills.keys()]));
  return { index, servers, skills, offers, stamp };
}

function known({ index, stamp }: WantedSearch): PreparedSearch | undefined {
  const made = searches.get(index);
  return made?.stamp === stamp ? made : undefined;
}

/** Throws REGISTRY_INVALID. */
function prepared(catalog: ToolCatalog): PreparedSearch {
  if (catalog.indexProblem && catalog.index.servers.length === 0) throw catalog.indexProblem;
  catalog.observer.settle();
  const wanted = wantedIn(catalog);
  return known(wanted) ?? make(wanted, preparedIn(catalog.config.folders.registry, listedTools(wanted.servers)));
}

function make({ index, servers, skills, offers, stamp }: WantedSearch, tools: PreparedTools): PreparedSearch {
  const made = { tools: new ToolSearch({ ...index, servers }, tools), skills, offers, stamp };
  searches.set(index, made);
  return made;
}

/** In the index, skills are the tools of one more server, whose name is not possible in a config. */
function skillServer(tools: RegistryTool[]): RegistryServer {
  return { name: "./skills", category: "", description: "", folder: "", fingerprint: "", tools };
}

function foundSkill(skill: Skill): Omit<FoundTool, "score"> {
  return {
    kind: "skill",
    id: skillId(skill),
    server: skill.from,
    name: skill.name,
    description: firstSentence(skill.description),
    signature: skill.signature,
    example: importOf(skill),
    exampleTells: true,
  };
}

/** The visible servers with their current names in code. */
function configured({ visibleServers, names }: ToolCatalog): RegistryServer[] {
  const byName = new Map(visibleServers.map((server) => [server.name, server]));
  return names.flatMap(({ name, jsName }) => {
    const server = byName.get(name);
    return server ? [{ ...server, jsName }] : [];
  });
}
