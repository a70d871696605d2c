/** The instructions that an agent gives to its model: the servers and how to use them. */

import type { App } from "../../app/app.ts";
import { estimateTokens } from "../../base/token-estimate.ts";
import { oneLine } from "../../base/visible-text.ts";
import { sameServerKey } from "../../config/accounts.ts";
import type { Fault } from "../../servers/failures/fault.ts";
import { stateText } from "../../servers/state.ts";
import { aboutServer } from "../../tools/catalog/config-entry.ts";
import { type RegistryServer, toolId } from "../../tools/model.ts";
import { firstSentence, signature } from "../../tools/signature.ts";
import { type CallTexts, fittingCalls, type Recognised, usedTools, usualTools, withResults } from "./everyday-tools.ts";
import { firstSteps } from "./first-steps.ts";
import { definitionTokens, surfaceTokensOf } from "./surface-tokens.ts";

/** Claude Code and other agents cut instructions at this length. */
const maxInstructionsChars = 2_048;

/** The same in direct mode. It leaves room for the last line, with the number of the other servers. */
const maxDirectInstructionsChars = 1_500;

/** Tokens of one server's description, so that some are left for signatures. */
const maxDescriptionTokens = 40;

/** A smaller share of the tokens is not worth a description. */
const minDescriptionTokens = 4;

/** Characters of one name in the instructions. */
const maxInstructionsNameChars = 64;

const head =
  "Find the tools of these MCP servers with search_tools; call them in execute_code as `await server.tool(args)`.";
/** Leaves more room for calls: the descriptions of the tools say how a call is written. */
const noSearch = "Calls shown need no search; untyped arguments are strings";
const afterwards =
  "After that, find tools with search_tools, and call them in execute_code as `await server.tool(args)`.";
const locked = {
  CONFIG_NOT_TRUSTED: `The project's MCP servers start once the user trusts its config. Until then, search_tools and execute_code ask the user, or return the command to run. ${afterwards}`,
  CONFIG_INVALID: `The config of the MCP servers has a mistake. Until the user has corrected it, search_tools and execute_code return what is wrong. ${afterwards}`,
};
const waiting =
  "This project has MCP servers of its own, which start once the user trusts its config: claudikins trust. The user's own servers work meanwhile.";

const closed = "The user's policy allows no tool of the configured MCP servers.";

/** Before the servers whose tools agents have not called. */
const searched = "By search";

/** How many other tools are named if there is no room for all of them. */
const fewerNames = [12, 6];

interface ServerLine {
  server: string;
  /** The name as it is shown. */
  name: string;
  /** The name, with the number of tools if it is known. */
  label: string;
  /** The name, with what tells it from others: it stands in a list. */
  short: string;
  /** The words of a sentence about its purpose, else names of its tools, with their tokens. */
  pieces: { text: string; tokens: number }[];
  separator: string;
  /** Whether the pieces are names of its tools. */
  listsTools: boolean;
  known: RegistryServer | undefined;
  /** An earlier entry of the same server, whose tools are shown there. */
  twin: string | undefined;
  isDown: boolean;
}

/**
 * The instructions in code mode, within their tokens. The door's instructions come first. Every server is named before the calls of everyday
 * tools are shown; then come the servers' descriptions, and then signatures of small servers. `taken` are tokens of texts before these.
 */
export async function instructionsFor(app: App, taken = 0): Promise<string> {
  if (app.meanwhile) return `${waiting}\n${await instructionsFor(app.meanwhile, taken + estimateTokens(waiting))}`;
  if (app.lockedBy) return locked[app.lockedBy];
  const before = [app.config.instructions, firstSteps(app)].filter(Boolean).join("\n");
  const rest = await serversText(app, taken + estimateTokens(before));
  return [before, rest].filter(Boolean).join("\n");
}

async function serversText(app: App, taken: number): Promise<string> {
  const open = [...app.config.servers.keys()].filter((name) => !app.catalog.isClosed(name));
  const recognised = await recognisedServers(app, open);
  const twins = twinsBefore(app);
  const entries = open.map((name) => entryOf(name, app, recognised.get(name)?.description, twins.get(name)));
  if (entries.length === 0) return app.config.servers.size === 0 ? "" : closed;
  // Calls of servers that are down would only fail.
  const usable = entries.filter(({ isDown }) => !isDown).map(({ server }) => server);
  const used = await usedTools(app, usable);
  const isUsed = new Set(used.map(({ server }) => server));
  const maxTokens = surfaceTokensOf(app.config, entries.length, isUsed.size) - definitionTokens - taken;
  // The estimate is too low for rare words, and too high for calls.
  const fits = (text: string, calls = "") =>
    text.length <= maxInstructionsChars && estimateTokens(text) * 1.05 - estimateTokens(calls) * 0.1 <= maxTokens;
  // The servers that this user's agents call come first, and all others are one line.
  const isListed = ({ server, isDown }: ServerLine) => isUsed.size > 0 && !isUsed.has(server) && !isDown;
  const labels = entries.map((entry) => (isListed(entry) ? entry.short : entry.label));
  if (!fits(listText(labels))) {
    // Calls take half of the room at most, so that many servers are named too.
    const textOf = (calls: CallTexts) => (calls.size === 0 ? "" : `\n${noSearch}: ${[...calls.values()].join("; ")}`);
    const text = textOf(fittingCalls(used, (calls) => fits(head + textOf(calls).repeat(2))));
    return inOneLine(entries, (names) => fits(names + text)) + text;
  }
  /** How many of its other tools a server with calls names. */
  const named = new Map<ServerLine, number>();
  const textOf = (lines: string[], calls: CallTexts) => {
    const listed: string[] = [];
    const called = new Set([...calls.keys()].map(({ server }) => server));
    const blocks = entries.flatMap((entry, at) => {
      const line = withCalls(lines[at]!, entry, calls, named.get(entry) ?? 0);
      if (!isListed(entry) || called.has(entry.server) || line.includes("\n")) return [line];
      listed.push(line);
      return [];
    });
    return listText([...blocks, ...(listed.length === 0 ? [] : [`${searched}: ${listed.join("; ")}`])], calls.size > 0);
  };
  const fit = (lines: string[], calls: CallTexts) => fits(textOf(lines, calls), [...calls.values()].join("; "));
  // Names are guessed if a list of calls looks complete.
  const nameTools = (of: ReadonlySet<string>, lines: string[], calls: CallTexts) => {
    for (const entry of entries) {
      if (!of.has(entry.server)) continue;
      const all = entry.known?.tools.length ?? 0;
      const before = named.get(entry) ?? 0;
      // A few names of many would be noise.
      const fewer = fewerNames.filter((count) => count < all && count * 4 > all);
      const most = [all, ...fewer]
        .filter((count) => count > before)
        .find((count) => {
          named.set(entry, count);
          return fit(lines, calls);
        });
      named.set(entry, most ?? before);
    }
  };
  const more = (tools: Parameters<typeof fittingCalls>[0], lines: string[], calls: CallTexts) =>
    new Map([...calls, ...fittingCalls(tools, (others) => fit(lines, new Map([...calls, ...others])))]);
  // In the order of worth: calls that agents made, other usual calls of the same servers, the fields that they read, the names of the rest.
  const isMade = new Set(used.map(({ server, tool }) => toolId(server, tool)));
  const usualOfUsed = usualTools(app, [...isUsed], recognised).filter(
    ({ server, tool }) => !isMade.has(toolId(server, tool)),
  );
  const made = more(usualOfUsed, labels, more(used, labels, new Map()));
  const read = withResults(made, ["fields"], (longer) => fit(labels, longer));
  const hasCalls = new Set([...read.keys()].map(({ server }) => server));
  nameTools(hasCalls, labels, read);
  // Beside calls, the names of the first tools say little: the others are counted or named.
  const isPlain = ({ server, listsTools }: ServerLine) => listsTools && hasCalls.has(server);
  const described = withWords(entries, labels, isPlain, (lines) => fit(lines, read));
  const fresh = usable.filter((name) => !twins.has(name) && !isUsed.has(name));
  const usual = more(usualTools(app, fresh, recognised), described, read);
  const calls = withResults(usual, ["fields", "outlined", "whole"], (longer) => fit(described, longer));
  const called = new Set([...calls.keys()].map(({ server }) => server));
  const others = entries.map(({ server, twin, isDown, known }) =>
    twin === undefined && !isDown && !called.has(server) ? known : undefined,
  );
  const lines = withSignatures(others, described, (longer) => fit(longer, calls));
  nameTools(called, lines, calls);
  return textOf(lines, calls);
}

/** The server catalog's entries for servers that were not asked yet. The catalog takes 3 ms to load, so it is loaded only for these. */
async function recognisedServers(
  { catalog, config }: App,
  servers: readonly string[],
): Promise<ReadonlyMap<string, Recognised>> {
  const unknown = servers.flatMap((name) => (catalog.find(name) ? [] : config.servers.get(name)!));
  const about = unknown.map(async (server) => [server.name, await aboutServer(server)] as const);
  return new Map(await Promise.all(about));
}

/** A server's line with the calls of its tools, and the number of the others or their names. */
function withCalls(line: string, entry: ServerLine, calls: CallTexts, names: number): string {
  const { server, name, label } = entry;
  const own = [...calls].filter(([tool]) => tool.server === server);
  if (own.length === 0) return line;
  // A call does not need the server's name if the code has the same.
  const texts = own.map(([, call]) => (call.startsWith(`${name}.`) ? call.slice(name.length + 1) : call));
  const hasNames = entry.listsTools && line.length > label.length;
  const others = hasNames ? undefined : othersOf(entry, new Set(own.map(([tool]) => tool.tool)), names);
  // The number of the other servers replaces the number of all.
  const isCount = others !== undefined && label === `${name} (${entry.known?.tools.length})`;
  const first = isCount ? name + line.slice(label.length) : line;
  return `${first}${first.includes(": ") ? "\n  " : ": "}${[...texts, ...(others ?? [])].join("; ")}`;
}

/** `+12 more: read_graph, delete_entities …`. Undefined if there are none, or the tools are not known. */
function othersOf({ known }: ServerLine, shown: ReadonlySet<string>, names: number): [string] | undefined {
  const others = known?.tools.filter(({ name }) => !shown.has(name)) ?? [];
  if (others.length === 0) return undefined;
  const first = others.slice(0, names).map(({ name }) => oneLine(name, maxInstructionsNameChars));
  const named = first.length === 0 ? "" : `: ${first.join(", ")}${first.length < others.length ? " …" : ""}`;
  return [`+${others.length} more${named}`];
}

function listText(lines: string[], hasCalls = false): string {
  return [hasCalls ? `MCP servers. ${noSearch}.` : head, ...lines.map((line) => `- ${line}`)].join("\n");
}

/** Lists names, with the numbers of tools if they fit. Servers that do not fit are counted. */
function inOneLine(entries: ServerLine[], fits: (text: string) => boolean): string {
  const labels = `${head}\n${entries.map(({ label }) => label).join(", ")}`;
  if (fits(labels)) return labels;
  const first = (count: number) => {
    const left = entries.length - count;
    const names = entries.slice(0, count).map(({ name }) => name);
    return `${head}\n${names.join(", ")}${left > 0 ? ` and ${left} more` : ""}`;
  };
  let count = 0;
  while (count < entries.length && fits(first(count + 1))) count += 1;
  return first(count);
}

/** Describes each server that is not plain within the same number of tokens, the largest that fits. */
function withWords(
  entries: ServerLine[],
  labels: string[],
  isPlain: (entry: ServerLine) => boolean,
  fit: (lines: string[]) => boolean,
): string[] {
  for (let share = maxDescriptionTokens; share >= minDescriptionTokens; share--) {
    const longer = entries.map((entry, at) => (isPlain(entry) ? labels[at]! : described(labels[at]!, entry, share)));
    if (fit(longer)) return longer;
  }
  return labels;
}

function described(label: string, { pieces, separator }: ServerLine, share: number): string {
  let [count, tokens] = [0, 0];
  for (const piece of pieces) {
    tokens += piece.tokens;
    if (tokens > share) break;
    count += 1;
  }
  if (count === 0) return label;
  const shown = pieces.slice(0, count).map(({ text }) => text);
  return `${label}: ${shown.join(separator)}${count < pieces.length ? " …" : ""}`;
}

/** Shows all signatures of a server or none: a few would look like all. The smallest servers come first. */
function withSignatures(
  servers: (RegistryServer | undefined)[],
  labels: string[],
  fit: (lines: string[]) => boolean,
): string[] {
  let lines = labels;
  const bySize = servers
    .flatMap((server, at) => (server && server.tools.length > 0 ? [{ at, server }] : []))
    .sort((a, b) => a.server.tools.length - b.server.tools.length);
  for (const { at, server } of bySize) {
    const withTexts = (texts: string[]) => lines.with(at, [labels[at], ...texts].join("\n  "));
    // No signature is shorter than this, so more tools cannot fit.
    if (!fit(withTexts(server.tools.map(() => "f()")))) break;
    const longer = withTexts(server.tools.map((tool) => oneLine(signature(server, tool), 1_000)));
    if (fit(longer)) lines = longer;
  }
  return lines;
}

function entryOf(name: string, app: App, usualDescription: string | undefined, twin: string | undefined): ServerLine {
  const known = app.catalog.find(name);
  const fault = app.pool.fault(name);
  const isDown = isNow(fault);
  const problem = isDown ? `${fault.why}. ${fault.remedy}` : undefined;
  const { account, description: own } = app.config.servers.get(name) ?? {};
  const description = own || (twin && twinText(name, twin, app)) || known?.description || usualDescription || "";
  // A server that cannot be used is not described: its problem is, so that the user can solve it.
  const sentence = problem ?? firstSentence(description, 200);
  const tools = known?.tools.slice(0, maxDescriptionTokens) ?? [];
  const texts = sentence
    ? oneLine(sentence, 200).split(" ")
    : tools.map((tool) => oneLine(tool.name, maxInstructionsNameChars));
  const separator = sentence ? " " : ", ";
  const shown = oneLine(name, maxInstructionsNameChars);
  const whose = account === undefined ? [] : [`account ${account}`];
  const trouble = fault ? [isDown ? "down" : "down last time"] : [];
  const count = known && !fault ? [String(known.tools.length)] : [];
  return {
    server: name,
    name: shown,
    label: labelled(shown, [...trouble, ...count, ...whose]),
    short: labelled(shown, [...trouble, ...whose]),
    pieces: texts.map((text) => ({ text, tokens: estimateTokens(` ${text}${separator.trim()}`) })),
    separator,
    listsTools: sentence === "",
    known,
    twin,
    isDown,
  };
}

const labelled = (name: string, facts: string[]) => (facts.length === 0 ? name : `${name} (${facts.join("; ")})`);

/** Whether a server is down now. One that was down last time may work. */
function isNow(fault: Fault | undefined): fault is Fault {
  return fault !== undefined && !fault.isPast;
}

function twinText(name: string, twin: string, { catalog }: App): string {
  const code = catalog.jsNameOf(name) ?? `servers[${JSON.stringify(name)}]`;
  return `${code === name ? "" : `${oneLine(code, maxInstructionsNameChars)} has `}the same tools as ${oneLine(twin, maxInstructionsNameChars)}`;
}

/** For each entry, the first entry of the same server that stands before it and can be used. */
function twinsBefore({ config: { servers }, catalog, pool }: App): Map<string, string> {
  const isUsable = (name: string) => !catalog.isClosed(name) && !isNow(pool.fault(name));
  const groups = new Map<string, string[]>();
  const twins = new Map<string, string>();
  for (const server of servers.values()) {
    const key = sameServerKey(server);
    const before = groups.get(key) ?? [];
    const twin = before.find(isUsable);
    if (twin !== undefined) twins.set(server.name, twin);
    groups.set(key, [...before, server.name]);
  }
  return twins;
}

/** The instructions in direct mode: the servers, and which of them cannot be used. Servers that do not fit are counted. */
export function directInstructions(app: App): string {
  const entries = [...app.config.servers.values()].map(({ name, account, description }) => {
    const state = app.pool.state(name);
    const tools = app.catalog.find(name)?.tools.length;
    const facts = state.state === "needs" ? `not offered: ${stateText(state)}` : tools === undefined ? "" : `${tools}`;
    const shown = [facts, account && `account ${account}`].filter(Boolean).join("; ");
    return [name, shown && ` (${shown})`, description ? `: ${description}` : ""].join("");
  });
  const head = "Tools, resources and prompts of these MCP servers, passed through unchanged.";
  let text = [app.config.instructions, firstSteps(app), head].filter(Boolean).join("\n");
  for (const [index, entry] of entries.entries()) {
    const next = `${text}\n- ${entry}`;
    if (next.length > maxDirectInstructionsChars) return `${text}\n- and ${entries.length - index} more servers`;
    text = next;
  }
  return text;
}
