/** search: query → index → ranked tools and skills with what is needed to call them. Starts nothing. */

import { withoutMark } from "../registry/hooks.ts";
import { type RegistryServer, type RegistryTool, toolId } from "../registry/model.ts";
import { ToolSearch } from "../registry/search.ts";
import { exampleCall, firstSentence, signature } from "../registry/signature.ts";
import { importOf, listSkills, type Skill, skillId } from "./skills.ts";
import type { Toolbox } from "./toolbox.ts";

export interface FoundTool {
  kind: "tool" | "skill";
  /** `server.tool`, with the original names; `skills/report.topCustomers`. */
  id: string;
  /** Of a skill, what it is imported from. */
  server: string;
  name: string;
  description: string;
  signature: string;
  example: string;
  score: number;
  /** Ids of the very same tool on other servers. */
  also?: string[];
}

export interface SearchResult {
  query: string;
  tools: FoundTool[];
  /** Tools that were searched, and skills. */
  searched: number;
  /** Configured servers whose tools are not known yet. */
  notIndexed: string[];
  /** Servers that are found as they were before their entry in the config was changed. */
  outdated: string[];
}

interface Prepared {
  tools: ToolSearch;
  skills: Map<RegistryTool, Skill>;
  /** Of the skills: they may be others at any time. */
  stamp: string;
}

const searches = new WeakMap<object, Prepared>();

/**
 * Only tools of configured servers are found, whatever else the registry still holds. A query may have filters:
 * `server:github`, `category:ui`. Throws REGISTRY_INVALID, and SERVER_NOT_FOUND for a filter that names no server.
 */
export function search(query: string, limit: number, toolbox: Toolbox): SearchResult {
  if (toolbox.indexProblem && toolbox.index.servers.length === 0) throw toolbox.indexProblem;
  toolbox.observer.settle();
  const { index } = toolbox;
  const { tools, skills } = prepared(toolbox);
  const indexed = new Set(index.servers.map((server) => server.name));
  const unknown = toolbox.unknownServers();
  return {
    query,
    tools: tools.search(withoutMark(query), limit).map(({ id, server, tool, score, also }): FoundTool => {
      const skill = skills.get(tool);
      if (skill) return { ...foundSkill(skill), score };
      return {
        kind: "tool",
        id,
        server: server.name,
        name: tool.name,
        description: firstSentence(tool.description || tool.title || ""),
        signature: signature(server, tool),
        example: exampleCall(server, tool),
        score,
        ...(also.length > 0 ? { also } : {}),
      };
    }),
    searched: tools.size,
    notIndexed: unknown.filter((name) => !indexed.has(name)),
    outdated: unknown.filter((name) => indexed.has(name)),
  };
}

/** A tool as it is ranked among all that may be shown. */
export interface RankedTool {
  server: string;
  name: string;
  score: number;
}

/** All tools that have anything of the words, best first; those that are the same on several servers each. What looks like a filter is words, too. */
export function rankedTools(words: string, toolbox: Toolbox): RankedTool[] {
  if (toolbox.indexProblem && toolbox.index.servers.length === 0) throw toolbox.indexProblem;
  toolbox.observer.settle();
  const { tools, skills } = prepared(toolbox);
  const byId = new Map(
    configured(toolbox).flatMap(({ name: server, tools: own }) =>
      own.map(({ name }) => [toolId(server, name), { server, name }]),
    ),
  );
  return tools
    .search(words.replace(/\b(server|category):/giu, "$1 "), tools.size)
    .flatMap(({ id, tool, score, also }) => {
      if (skills.has(tool)) return [];
      return [id, ...also].flatMap((each) => {
        const found = byId.get(each);
        return found ? [{ ...found, score }] : [];
      });
    });
}

/** What the next search would have to make first. */
export function prepareSearch(toolbox: Toolbox): void {
  if (toolbox.index.servers.length > 0) prepared(toolbox);
}

function prepared(toolbox: Toolbox): Prepared {
  const { index, config } = toolbox;
  const found = listSkills(config.folders);
  const stamp = JSON.stringify(found);
  const before = searches.get(index);
  if (before?.stamp === stamp) return before;
  const skills = new Map(
    found.map((skill) => [
      { name: `${skill.from} ${skill.name}`, description: skill.description, inputSchema: {} },
      skill,
    ]),
  );
  const servers = skills.size > 0 ? [...configured(toolbox), skillServer([...skills.keys()])] : configured(toolbox);
  const made = { tools: new ToolSearch({ ...index, servers }, config.folders.registry), skills, stamp };
  searches.set(index, made);
  return made;
}

/** For the index, skills are tools of one more server, whose name no server of a config can be taken for. */
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
  };
}

/** The servers of the registry that the config has, with the tools that may be shown and the names that they have in code now. */
function configured({ shownServers, names }: Toolbox): RegistryServer[] {
  return names.flatMap(({ name, jsName }) => {
    const server = shownServers.find((known) => known.name === name);
    return server ? [{ ...server, jsName }] : [];
  });
}
