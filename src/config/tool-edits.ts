/**
 * Edits of tools: what the config changes about their names, descriptions and arguments as agents see them. Servers know nothing of
 * edits: a call is sent under the tool's own name, with the arguments that the config fixes. Rules of the policy use own names too.
 */
import { ClaudikinsError } from "../base/errors.ts";
import type { JsonObject } from "../base/json-object.ts";
import { sha256 } from "../base/sha256.ts";
import type { Environment } from "./environment.ts";
import { expand } from "./expand.ts";
import { pathText, splitToolId } from "./policy.ts";

/** What the config says about one argument. */
export interface ArgumentEntry {
  /** Always sent. Agents neither see nor pass the argument. */
  value?: unknown;
  /** Sent if the caller leaves the argument out. With `hide`, it is a `value`. */
  default?: unknown;
  /** Neither shown nor sent. */
  hide?: boolean | undefined;
}

/** What the config says about one tool. */
export interface ToolEntry {
  name?: string | undefined;
  description?: string | undefined;
  arguments?: Record<string, ArgumentEntry> | undefined;
}

/** By `server.tool`, with the tool's own name. */
export type ToolEntries = Record<string, ToolEntry>;

/** An entry for a tool of one server, as it is written. */
export interface WrittenEdit {
  /** The tool's own name. */
  tool: string;
  entry: ToolEntry;
  /** The place in the config. */
  place: string;
}

/** What an entry does to a tool. */
export interface ToolEdit {
  /** The tool's own name. */
  tool: string;
  name: string | undefined;
  description: string | undefined;
  /** Arguments that are always sent. Their values may be secrets. */
  fixed: JsonObject;
  /** Arguments that are sent if the caller leaves them out. */
  defaults: JsonObject;
  /** Arguments that are never sent. */
  hidden: string[];
  place: string;
  /** Identifies the definition that the edit makes, without the values of fixed arguments. */
  mark: string;
}

/** All edits of a server's tools. */
export interface ServerEdits {
  tools: ToolEdit[];
  written: WrittenEdit[];
  /** The values that were filled in, by the names of their variables. */
  variables: Record<string, string>;
  /** Variables that are not set, and that only edits refer to. */
  missing: string[];
}

/** A tool as it is stored. `edit` is the mark of the edit that was applied to it. */
interface ShownTool {
  name: string;
  edit?: string | undefined;
}

/** The entries for the tools of one server. `path` is the place of `entries` in the config. */
export function editsIn(
  entries: ToolEntries | undefined,
  server: string,
  { path, servers }: { path: string[]; servers: readonly string[] },
): WrittenEdit[] {
  return Object.entries(entries ?? {}).flatMap(([id, entry]) => {
    const named = splitToolId(id, servers);
    return named.isName && named.server === server ? [{ tool: named.tool, entry, place: pathText([...path, id]) }] : [];
  });
}

/** A door's entries replace the config's entries, key by key and argument by argument. */
export function mergedEdits(base: readonly WrittenEdit[], door: readonly WrittenEdit[]): WrittenEdit[] {
  const merged = new Map(base.map((each) => [each.tool, each]));
  for (const { tool, entry, place } of door) {
    const before = merged.get(tool)?.entry;
    const args = { ...before?.arguments, ...entry.arguments };
    merged.set(tool, { tool, place, entry: { ...before, ...entry, arguments: args } });
  }
  return [...merged.values()];
}

/** The server with its edits, whose variables are filled in. It also needs the variables that are not set. */
export function withEdits<Server extends { needs: string[]; edits?: ServerEdits | undefined }>(
  { edits: before, ...server }: Server,
  written: WrittenEdit[],
  env: Environment,
): Omit<Server, "edits"> & { edits?: ServerEdits } {
  const needs = server.needs.filter((name) => !before?.missing.includes(name));
  if (written.length === 0) return { ...server, needs };
  const edits = expandedEdits(written, env);
  const missing = edits.missing.filter((name) => !needs.includes(name));
  return { ...server, needs: [...needs, ...missing].sort(), edits: { ...edits, missing } };
}

function expandedEdits(written: WrittenEdit[], env: Environment): ServerEdits {
  const tools = written.map(toolEdit);
  const { value, missing, used } = expand(
    tools.map(({ fixed }) => fixed),
    env,
  );
  return { tools: tools.map((edit, at) => ({ ...edit, fixed: value[at]! })), written, variables: used, missing };
}

function toolEdit({ tool, entry, place }: WrittenEdit): ToolEdit {
  const args = Object.entries(entry.arguments ?? {});
  const fixed = args.flatMap(([name, argument]) => {
    if (Object.hasOwn(argument, "value")) return [[name, argument.value] as const];
    return argument.hide && Object.hasOwn(argument, "default") ? [[name, argument.default] as const] : [];
  });
  const fixedNames = new Set(fixed.map(([name]) => name));
  const defaults = args.flatMap(([name, argument]) =>
    Object.hasOwn(argument, "default") && !argument.hide ? [[name, argument.default] as const] : [],
  );
  const hidden = args.flatMap(([name, { hide }]) => (hide && !fixedNames.has(name) ? [name] : []));
  const shown = { name: entry.name === tool ? undefined : entry.name, description: entry.description, hidden };
  const mark = sha256(JSON.stringify([tool, shown, [...fixedNames], defaults])).slice(0, 12);
  return { tool, ...shown, fixed: Object.fromEntries(fixed), defaults: Object.fromEntries(defaults), place, mark };
}

/** The second of two entries that give tools of one server the same name, and the problem. */
export function sharedName(written: readonly WrittenEdit[]): { edit: WrittenEdit; problem: string } | undefined {
  const named = written.filter(({ tool, entry }) => entry.name !== undefined && entry.name !== tool);
  const groups = [...Map.groupBy(named, ({ entry }) => entry.name).values()];
  const [first, edit] = groups.find(({ length }) => length > 1) ?? [];
  return first && edit && { edit, problem: `${first.place} has the same name` };
}

/** The own name of a stored tool. Undefined if the tool was stored with another edit than the config has now. */
export function ownNameOf(edits: ServerEdits | undefined, { name, edit }: ShownTool): string | undefined {
  const found = edits?.tools.find((each) => (edit === undefined ? each.tool === name : each.mark === edit));
  return found?.mark === edit ? (found?.tool ?? name) : undefined;
}

/**
 * The own name of a tool by the name that agents use, and its edit. `stored` are the server's stored tools, perhaps without denied ones.
 * Undefined if agents know the tool by another name.
 */
export function calledTool(
  edits: ServerEdits,
  name: string,
  stored: readonly ShownTool[] = [],
): { tool: string; edit: ToolEdit | undefined } | undefined {
  const known = stored.find((each) => each.name === name);
  const tool = known ? ownNameOf(edits, known) : unstoredOwnName(edits, name, stored);
  return tool === undefined ? undefined : { tool, edit: edits.tools.find((each) => each.tool === tool) };
}

function unstoredOwnName({ tools }: ServerEdits, name: string, stored: readonly ShownTool[]): string | undefined {
  const renamed = tools.find((each) => each.name === name);
  // A tool keeps its own name if another tool of the server has the new one.
  const isKept = stored.some(({ edit }) => edit !== undefined && edit === renamed?.mark);
  if (renamed && !isKept) return renamed.tool;
  return tools.some((each) => each.tool === name && each.name !== undefined) ? undefined : name;
}

/** The arguments that the server gets. Throws INVALID_ARGUMENTS if the caller passes one that agents do not see. `id` is the tool's shown id. */
export function sentArguments({ fixed, defaults, hidden }: ToolEdit, given: object, id: string): JsonObject {
  const args = new Map(Object.entries(given).filter(([, value]) => value !== undefined));
  const unseen = [...Object.keys(fixed), ...hidden].find((name) => args.has(name));
  if (unseen !== undefined) {
    throw new ClaudikinsError("INVALID_ARGUMENTS", `${id}: there is no argument "${unseen}"`);
  }
  for (const [name, value] of Object.entries(defaults)) if (!args.has(name)) args.set(name, value);
  for (const [name, value] of Object.entries(fixed)) args.set(name, value);
  return Object.fromEntries(args);
}
