/** Offers the categories, servers and tools of the registry as options: likely ones first, and no more than a small model can read. */
import { isObject } from "../base/json-object.ts";
import { requiredArguments } from "../base/json-schema.ts";
import { oneLine } from "../base/visible-text.ts";
import { type RegistryServer, type RegistryTool, toolId } from "../tools/model.ts";
import type { RankedTool } from "../tools/search/search.ts";

/**
 * Multiplies the maximum number of options if search finds none of them, because the right one might be left out. Each description is then
 * shorter.
 */
const unknownOptionsFactor = 4;

/** Servers that describe a category. */
const maxDescribingServers = 6;

/** Tools that describe a server. */
const maxDescribingTools = 4;

/** Arguments that describe a tool. */
const maxDescribingArguments = 12;

/** Characters of the choices of an argument. */
const maxChoicesChars = 100;

export type Level = "category" | "server" | "tool";

/** A tool and its server. */
export interface ServerTool {
  server: RegistryServer;
  tool: RegistryTool;
}

/** `T` is the thing that the option stands for. */
export interface Option<T> {
  name: string;
  value: T;
  /** The description for the model, in texts of at most `length` characters. */
  about(length: number): object;
}

/** The offered options of a level, and how many there are in all. */
export interface Options<T> {
  level: Level;
  /** The category or server of the options; undefined if there are several. */
  within?: string | undefined;
  offered: Option<T>[];
  all: number;
}

/** Maximum number of options of a level; search leaves out the others. */
const most: Record<Level, number> = { category: 12, server: 12, tool: 25 };

/** The search scores for one task: of tools, and of servers by their best tool. */
export type Ranks = ReturnType<typeof ranksOf>;

export function ranksOf(best: readonly RankedTool[]) {
  const tools = new Map(best.map(({ server, name, score }) => [toolId(server, name), score]));
  const servers = new Map<string, number>();
  for (const { server, score } of best) servers.set(server, Math.max(servers.get(server) ?? 0, score));
  const ofServer = ({ name }: RegistryServer): number => servers.get(name) ?? 0;
  return {
    ofServer,
    ofServers: (all: readonly RegistryServer[]): number => Math.max(0, ...all.map(ofServer)),
    ofTool: ({ server, tool }: ServerTool): number => tools.get(toolId(server.name, tool.name)) ?? 0,
  };
}

export function categories(servers: readonly RegistryServer[], ranks: Ranks): Options<RegistryServer[]> {
  const options = [...Map.groupBy(servers, ({ category }) => category)].map(([name, inside]) => ({
    name,
    value: inside,
    about(length: number) {
      const sorted = byScore(inside, ranks.ofServer, nameOf);
      const named = sorted
        .slice(0, maxDescribingServers)
        .map((server) => [short(server.name), purpose(server, ranks, length)]);
      return { servers: Object.fromEntries(named), ...more(inside.length, named.length) };
    },
  }));
  return narrowed("category", options, ranks.ofServers);
}

export function servers(inside: readonly RegistryServer[], ranks: Ranks): Options<RegistryServer> {
  const within = inside[0]?.category;
  const options = inside.map((server) => ({
    name: server.name,
    value: server,
    about(length: number) {
      const named = likely(server, ranks).map(({ tool }) => [short(tool.name), text(descriptionOf(tool), length)]);
      const about = text(server.description, length);
      return {
        ...(about ? { about } : {}),
        tools: Object.fromEntries(named),
        ...more(server.tools.length, named.length),
      };
    },
  }));
  return { ...narrowed("server", options, ranks.ofServer), within };
}

export function tools(server: RegistryServer, ranks: Ranks): Options<ServerTool> {
  const options = server.tools.map((tool) => toolOption(tool.name, { server, tool }));
  return { ...narrowed("tool", options, ranks.ofTool), within: server.name };
}

/** Tools of several servers as options, by their ids and in their order. */
export function mixedTools(found: readonly ServerTool[]): Options<ServerTool> {
  const offered = found.map((each) => toolOption(toolId(each.server.name, each.tool.name), each));
  return { level: "tool", offered, all: offered.length };
}

function toolOption(name: string, value: ServerTool): Option<ServerTool> {
  const { tool } = value;
  return {
    name,
    value,
    about(length) {
      const args = length > 0 ? argumentNames(tool) : "";
      const about = text(descriptionOf(tool), length);
      return { ...(about ? { about } : {}), ...(args ? { arguments: args } : {}) };
    },
  };
}

function narrowed<T>(level: Level, options: Option<T>[], scoreOf: (value: T) => number): Options<T> {
  const scoreOfOption = ({ value }: Option<T>) => scoreOf(value);
  const isKnown = options.some((option) => scoreOfOption(option) > 0);
  const limit = isKnown ? most[level] : most[level] * unknownOptionsFactor;
  return { level, offered: byScore(options, scoreOfOption, nameOf).slice(0, limit), all: options.length };
}

function byScore<T>(list: readonly T[], scoreOf: (each: T) => number, name: (each: T) => string): T[] {
  return [...list].sort((a, b) => scoreOf(b) - scoreOf(a) || (name(a) < name(b) ? -1 : 1));
}

const nameOf = ({ name }: { name: string }) => name;

function likely(server: RegistryServer, ranks: Ranks): ServerTool[] {
  const all = server.tools.map((tool) => ({ server, tool }));
  return byScore(all, ranks.ofTool, ({ tool }) => tool.name).slice(0, maxDescribingTools);
}

/** One line about a server: its description and its likely tools. */
function purpose(server: RegistryServer, ranks: Ranks, length: number): string {
  const names = likely(server, ranks).map(({ tool }) => short(tool.name));
  return [text(server.description, length), names.join(", ")].filter(Boolean).join(": ");
}

function more(all: number, named: number): { more?: number } {
  return all > named ? { more: all - named } : {};
}

/** `status? (pending, paid), limit?`: possible values tell the model what a tool is about. */
function argumentNames({ inputSchema }: RegistryTool): string {
  const { properties } = inputSchema;
  const required = requiredArguments(inputSchema, inputSchema);
  const all = Object.entries(isObject(properties) ? properties : {});
  const shown = all.slice(0, maxDescribingArguments).map(([name, schema]) => {
    return `${short(name)}${required.has(name) ? "" : "?"}${choicesIn(schema)}`;
  });
  return [...shown, ...(all.length > maxDescribingArguments ? ["…"] : [])].join(", ");
}

function choicesIn(schema: unknown): string {
  const choices = isObject(schema) && Array.isArray(schema["enum"]) ? schema["enum"].map(String).join(", ") : "";
  return choices && choices.length <= maxChoicesChars ? ` (${choices})` : "";
}

function descriptionOf({ description, title }: RegistryTool): string {
  return description || title || "";
}

function text(whole: string, length: number): string {
  return length > 0 ? oneLine(whole, length) : "";
}

/** The text, cut if it is longer. */
export function short(text: string, length = 80): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}
