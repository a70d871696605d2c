/** Writes the answers of `search_tools`: signatures, calls and names, within their length. */
import type { App } from "../../app/app.ts";
import { type DownServer, downText } from "../../tools/search/down-servers.ts";
import type { FoundTool, SearchResult } from "../../tools/search/search.ts";
import {
  alsoText,
  briefCall,
  companionTexts,
  type Detail,
  fullTool,
  overview,
  tellingExample,
} from "../../tools/search/search-answer.ts";
import { firstSentence } from "../../tools/signature.ts";
import type { Unusable } from "./unusable-servers.ts";

/** Matches with a smaller share of the best one's score are seldom what the agent needs. */
const minShareOfLikely = 0.8;

/** The share of an answer that likely tools may take. */
const shareOfLikely = 0.8;

/** Tools of a need whose companions are shown: the best ones. Each companion is shown once, unless it is found itself. */
const maxToolsWithCompanions = 2;

/** Servers in an answer without tools. */
const maxServersOfEmptyAnswer = 30;

/** The tools as the agent sees them. */
export type SeenTools = Pick<App, "config" | "catalog">;

/** The tools that were found for a need. `tools` are nearly as good as the best one, and `others` are not. */
interface Matches extends SearchResult {
  others: FoundTool[];
}

export function withOthersApart(result: SearchResult): Matches {
  if (result.noServerFor) return { ...result, tools: [], others: result.tools };
  const most = result.tools[0]?.score ?? 0;
  const isLikely = ({ score }: FoundTool) => result.query === "" || score >= minShareOfLikely * most;
  return { ...result, tools: result.tools.filter(isLikely), others: result.tools.filter((tool) => !isLikely(tool)) };
}

/** The tools that the needs have found, each once. */
export function toolsIn(results: readonly Pick<SearchResult, "tools">[]): FoundTool[] {
  return [...new Map(results.flatMap(({ tools }) => tools.map((tool) => [tool.id, tool] as const))).values()];
}

/** One section for each need. A tool appears in full once, or else as a call once; a type of several tools is named once. */
export function linesText(results: readonly Matches[], detail: Detail, unusable: Unusable, app: SeenTools): string {
  const [first] = results;
  if (first && results.every(({ tools, others }) => tools.length + others.length === 0)) {
    return [...unusable.lines, ...nothingFound(first, app)].join("\n");
  }
  const isDown = new Set(unusable.down.flatMap(({ server, isPast }) => (isPast ? [] : [server])));
  const whole = new Set(toolsIn(results).map(({ id }) => id));
  const called = new Set<string>();
  const companions = detail === "signatures" ? neededCompanions(results, whole, app) : noCompanions;
  const maxChars = app.config.limits.outputChars / results.length;
  const fitting = results.map(({ query, tools, others, searched, noServerFor }) => {
    const likely = within(maxChars * shareOfLikely, tools, (tool) => textOf(tool, detail).length);
    const unlikely = others.filter(({ id }) => !whole.has(id) && !called.has(id) && !companions.ids.has(id));
    for (const { id } of unlikely) called.add(id);
    const calls = unlikely.map((tool) => `${briefCall(tool, app.catalog)}${isDown.has(tool.server) ? " (down)" : ""}`);
    const shown = within(maxChars * (1 - shareOfLikely), calls, (call) => call.length);
    const none = noServerFor ? [`No tool of ${searched} matches: none is for ${noServerFor.join(" or ")}.`] : [];
    return { query, none, tools: likely.shown, calls: shown.shown, left: likely.left + shown.left };
  });
  const shown = toolsIn(fitting);
  const { types, signatures } = nameRepeatedTypes(detail === "names" ? [] : shown.map(({ signature }) => signature));
  const texts = new Map(
    shown.map((tool, at) => {
      const signature = `${signatures[at] ?? tool.signature}${isDown.has(tool.server) ? " // down" : ""}`;
      const lines = [textOf({ ...tool, signature }, detail), ...(companions.byTool.get(tool.id) ?? [])];
      return [tool.id, lines.join("\n  ")];
    }),
  );
  const shownBefore = new Set<string>();
  const sections = fitting.map(({ query, none, tools, calls, left }) => {
    const found = tools.map((tool) => (shownBefore.has(tool.id) ? `${tool.id}: above` : texts.get(tool.id)!));
    for (const { id } of tools) shownBefore.add(id);
    const more = [
      ...(calls.length > 0 ? [`Less likely: ${calls.join("; ")}`] : []),
      ...(left > 0 ? [`${left} more did not fit: lower "limit", or set "detail" to "names"`] : []),
    ];
    const entries = [...none, ...found];
    if (results.length === 1) return [...entries, ...more];
    return [`# ${query}`, ...(entries.length > 0 ? entries : ["No tool matches."]), ...more];
  });
  return [...unusable.lines, ...types, ...sections.flat()].join("\n");
}

/** The tools that give the ids which found tools require. */
interface Companions {
  ids: ReadonlySet<string>;
  /** The lines below each tool. */
  byTool: ReadonlyMap<string, string[]>;
}

const noCompanions: Companions = { ids: new Set(), byTool: new Map() };

function neededCompanions(results: readonly Matches[], shown: ReadonlySet<string>, { catalog }: SeenTools): Companions {
  const ids = new Set<string>();
  const byTool = new Map<string, string[]>();
  for (const { query, tools } of results) {
    // A need with a number in it has the id already.
    for (const tool of /\d/.test(query) ? [] : tools.slice(0, maxToolsWithCompanions)) {
      const texts = [...companionTexts(tool, catalog)].filter(([id]) => !shown.has(id) && !ids.has(id));
      for (const [id] of texts) ids.add(id);
      if (texts.length > 0)
        byTool.set(
          tool.id,
          texts.map(([, text]) => text),
        );
    }
  }
  return { ids, byTool };
}

/** As many tools as fit, but at least one: half a signature is useless. */
function within<T>(
  maxChars: number,
  entries: readonly T[],
  lengthOf: (entry: T) => number,
): { shown: T[]; left: number } {
  const shown: T[] = [];
  let chars = 0;
  for (const entry of entries) {
    chars += lengthOf(entry);
    if (shown.length > 0 && chars > maxChars) break;
    shown.push(entry);
  }
  return { shown, left: entries.length - shown.length };
}

function textOf(tool: FoundTool, detail: Detail): string {
  return detail === "names" ? nameLine(tool) : signatureLines(tool);
}

function nameLine({ kind, id, signature, description }: FoundTool): string {
  return [kind === "skill" ? signature : id, firstSentence(description, 80)].filter(Boolean).join(": ");
}

export function signatureLines(found: FoundTool): string {
  const { signature, description } = found;
  // The signature has the name already.
  const example = tellingExample(found)?.replace(/^await [^(]*\((.*)\)$/su, "e.g. $1");
  return [signature, description, example, alsoText(found)].filter(Boolean).join("\n  ");
}

function nothingFound({ query, searched }: SearchResult, app: SeenTools): string[] {
  const { near, all, servers } = overview(query, app.catalog);
  const none = `No tool of ${searched} matches. Try other words for what it should do, or "server" alone for all tools of one server.`;
  if (all) return [none, `All tools: ${all.join(", ")}`];
  const shown = servers.slice(0, maxServersOfEmptyAnswer).map(({ server, tools, description }) => {
    const about = firstSentence(description, 60);
    return `${server} (${tools})${servers.length <= maxServersOfEmptyAnswer / 3 && about ? `: ${about}` : ""}`;
  });
  const more = servers.length > maxServersOfEmptyAnswer ? [`${servers.length - maxServersOfEmptyAnswer} more`] : [];
  return [
    none,
    ...(near.length > 0 ? [`Similar names: ${near.join(", ")}`] : []),
    ...(shown.length > 0 ? [`Servers with tools: ${[...shown, ...more].join("; ")}`] : []),
  ];
}

/** Each tool once. Each of several needs names the tools that it has found. */
export function fullText(results: readonly SearchResult[], { down, notSearched }: Unusable, app: SeenTools): string {
  const all = toolsIn(results).map((tool) => fullTool(tool, app.catalog));
  const { shown, left } = within(app.config.limits.outputChars, all, (tool) => JSON.stringify(tool).length);
  const needs = results.map(({ query, tools }) => ({ query, tools: tools.map(({ id }) => id) }));
  const [first] = results;
  const found = new Set(toolsIn(results).map(({ server }) => server));
  const textsOf = (servers: readonly DownServer[]) => servers.map((each) => [each.server, downText([each])] as const);
  const notCallable = textsOf(down.filter(({ server }) => found.has(server)));
  const unknown = [...textsOf(down.filter(({ server }) => !app.catalog.find(server))), ...notSearched];
  return JSON.stringify({
    ...(notCallable.length > 0 ? { notCallable: Object.fromEntries(notCallable) } : {}),
    ...(unknown.length > 0 ? { notSearched: Object.fromEntries(unknown) } : {}),
    tools: shown,
    ...(needs.length > 1 ? { needs } : {}),
    ...(left > 0 ? { notShown: left } : {}),
    ...(all.length === 0 && first ? overview(first.query, app.catalog) : {}),
  });
}

/** Types of one answer that get a name, so that the work is in proportion to the length of the signatures. */
const maxNamedTypes = 20;

/** Shorter types are not worth a name. */
const minNamedTypeChars = 80;

interface NamedTypes {
  /** `type T1 = { … }`, the longest first. */
  types: string[];
  /** The signatures with the names. */
  signatures: string[];
}

/** Names at most `maxNamedTypes` types, so that the work is in proportion to the length of the signatures. */
export function nameRepeatedTypes(signatures: readonly string[]): NamedTypes {
  let texts = [...signatures];
  const counts = new Map<string, number>();
  for (const type of texts.flatMap(objectTypesIn)) counts.set(type, (counts.get(type) ?? 0) + 1);
  const repeated = [...counts].filter(([, count]) => count > 1).map(([type]) => type);
  const named: string[] = [];
  // The longest first: a type inside it may occur nowhere else.
  for (const type of repeated.sort((a, b) => b.length - a.length).slice(0, maxNamedTypes)) {
    const occurrences = [...texts, ...named].reduce((sum, text) => sum + text.split(type).length - 1, 0);
    if (occurrences < 2) continue;
    const name = `T${named.length + 1}`;
    texts = texts.map((text) => text.replaceAll(type, () => name));
    for (const [at, body] of named.entries()) named[at] = body.replaceAll(type, () => name);
    named.push(type);
  }
  return { types: named.map((type, at) => `type T${at + 1} = ${type}`), signatures: texts };
}

/** The object types in a signature that are long enough, with those inside them. Braces in texts do not count. */
function objectTypesIn(signature: string): string[] {
  const types: string[] = [];
  const open: number[] = [];
  for (let at = 0; at < signature.length; at++) {
    const character = signature[at]!;
    if (character === '"') at = endOfText(signature, at);
    else if (signature.startsWith("/*", at)) at = signature.indexOf("*/", at) + 1 || signature.length;
    else if (character === "{") open.push(at);
    else if (character === "}") {
      const from = open.pop();
      if (from !== undefined && at + 1 - from >= minNamedTypeChars) types.push(signature.slice(from, at + 1));
    }
  }
  return types;
}

function endOfText(signature: string, start: number): number {
  let at = start + 1;
  while (at < signature.length && signature[at] !== '"') at += signature[at] === "\\" ? 2 : 1;
  return at;
}
