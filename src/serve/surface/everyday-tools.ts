/** The tools of everyday work, which agents call without a search: by the ledger, else by the server catalog. */

import type { App } from "../../app/app.ts";
import { estimateTokens } from "../../base/token-estimate.ts";
import { oneLine } from "../../base/visible-text.ts";
import { isInView } from "../../config/doors.ts";
import { denialOf } from "../../policy/decision.ts";
import { isOfAgent } from "../../programs/saved/model.ts";
import { briefSignature, fieldsOf, outlineOf } from "../../tools/brief-signature.ts";
import { type AboutServer, entryKeyOf } from "../../tools/catalog/config-entry.ts";
import type { RegistryServer, RegistryTool } from "../../tools/model.ts";
import { toIdentifier } from "../../tools/names.ts";
import { callPath } from "../../tools/signature.ts";

/** Characters of a call in the instructions. Longer calls are left to the search. */
const maxEverydayCallChars = 400;

/** Tools that are considered for the instructions. More than fit into an ordinary surface. */
const maxEverydayTools = 60;

/** Weight of a tool that the server catalog calls usual. All weigh the same, so the shortest calls come first. */
const catalogToolWeight = 1;

interface EverydayTool {
  server: string;
  /** Its name. */
  tool: string;
  /** `demo.get_order({ order_id }): { status }`, with the outer fields of the result if they are known and programs read them. */
  least: string;
  /** The same with more of these fields, and with the fields of the rows in a wrapper. */
  fields: string;
  /** Like `least` for every tool, whether programs read its result or not. */
  outlined: string;
  /** The same with the whole result. */
  whole: string;
  /** How much it is used. A loop makes many calls and needs the text once, so calls count less the more there are. */
  uses: number;
}

/** The text shown for each tool: its call, perhaps with its result. */
export type CallTexts = ReadonlyMap<EverydayTool, string>;

/** The tools of these servers' entries that programs called most, sorted by server and name. Recent calls count more. */
export async function usedTools({ ledger, catalog, config }: App, servers: readonly string[]): Promise<EverydayTool[]> {
  if (!config.surfaceLearns) return [];
  const entries = servers.flatMap((name): [string, string][] => {
    const server = config.servers.get(name);
    return server ? [[name, entryKeyOf(config, server)]] : [];
  });
  const used = [...(await ledger.weightsOf(new Map(entries)))].flatMap(([name, weights]) => {
    const server = catalog.find(name);
    return (server?.tools ?? []).flatMap((tool) => {
      // These texts are for everybody.
      if (isOfAgent(tool)) return [];
      const weight = weights.get(tool.name);
      return weight === undefined ? [] : [{ server: server!, tool, weight }];
    });
  });
  const most = new Set(used.toSorted((a, b) => b.weight - a.weight).slice(0, maxEverydayTools));
  return used.flatMap((each) => (most.has(each) ? everydayTool(each.server, each.tool, each.weight) : []));
}

/** The usual tools of well-known servers, by the server catalog. Servers that were not asked yet are `recognised`. */
export function usualTools(
  { catalog, config }: App,
  servers: readonly string[],
  recognised: ReadonlyMap<string, Recognised>,
): EverydayTool[] {
  return servers.flatMap((name) => {
    const server = catalog.find(name);
    if (server)
      return server.tools.flatMap((tool) => (tool.usual ? everydayTool(server, tool, catalogToolWeight) : []));
    const { usual = {}, results = {} } = recognised.get(name) ?? {};
    const jsName = catalog.jsNameOf(name);
    const { policy, view, edits } = config.servers.get(name) ?? {};
    // How an edited tool looks is known when its server was asked.
    const isEdited = (tool: string) => edits?.tools.some((each) => each.tool === tool || each.name === tool) === true;
    const allowed = Object.entries(usual)
      .sort()
      .filter(([tool]) => !isEdited(tool) && isInView(view, tool) && (!policy || denialOf(policy, tool) === undefined));
    return allowed.map(([tool, args]) => {
      const path = callPath(jsName === undefined ? { name } : { name, jsName }, {
        name: tool,
        jsName: toIdentifier(tool),
      });
      const type = results[tool]?.type;
      const result = type === undefined ? {} : { outline: outlineOf(type), fields: fieldsOf(type) };
      return everyday({ server: name, tool }, `${path}${args}`, { ...result, isRead: true }, catalogToolWeight);
    });
  });
}

/** Facts from the server catalog about a server that was not asked yet. */
export type Recognised = Pick<AboutServer, "description" | "usual" | "results">;

function everydayTool(server: RegistryServer, tool: RegistryTool, weight: number): EverydayTool[] {
  const { args, ...results } = briefSignature(tool);
  const call = oneLine(`${callPath(server, tool)}${args}`, maxEverydayCallChars + 1);
  const isRead = tool.annotations?.["readOnlyHint"] !== false;
  return call.length > maxEverydayCallChars
    ? []
    : [everyday({ server: server.name, tool: tool.name }, call, { ...results, isRead }, weight)];
}

interface Result {
  /** Whether programs read it. The result of a tool that changes something mostly repeats what was sent. */
  isRead: boolean;
  result?: string | undefined;
  outline?: string | undefined;
  fields?: string | undefined;
}

function everyday(
  names: { server: string; tool: string },
  call: string,
  { result, outline, fields, isRead }: Result,
  weight: number,
): EverydayTool {
  const outlined = within(call, outline);
  const least = isRead ? outlined : call;
  const more = isRead ? within(call, fields, outlined) : call;
  return {
    ...names,
    least,
    fields: more,
    outlined,
    whole: within(call, result, outlined),
    uses: Math.log2(1 + weight),
  };
}

/** The call with a result, unless it is too long. */
function within(call: string, result: string | undefined, otherwise = call): string {
  if (result === undefined) return otherwise;
  const text = oneLine(`${call}: ${result}`, maxEverydayCallChars + 1);
  return text.length > maxEverydayCallChars ? otherwise : text;
}

/**
 * The calls of as many tools as fit, in the order of the tools. The tools whose texts are used most are kept. Each call has the outline of its
 * result if that is known and read: without it, a model prints the result first.
 */
export function fittingCalls(tools: readonly EverydayTool[], fits: (calls: CallTexts) => boolean): CallTexts {
  const shown = new Set<EverydayTool>();
  const calls = () => new Map(tools.flatMap((tool) => (shown.has(tool) ? [[tool, tool.least]] : [])));
  for (const tool of tools.toSorted((a, b) => worth(b, b.least) - worth(a, a.least))) {
    shown.add(tool);
    if (!fits(calls())) shown.delete(tool);
  }
  return calls();
}

/** The calls with as many longer results as fit, of each of these lengths in turn. */
export function withResults(
  calls: CallTexts,
  lengths: readonly ("fields" | "outlined" | "whole")[],
  fits: (calls: CallTexts) => boolean,
): CallTexts {
  let longer = calls;
  for (const length of lengths) {
    const added = (tool: EverydayTool) => tool[length].slice(longer.get(tool)!.length);
    // The name of a list says nothing about its rows.
    const need = (tool: EverydayTool) => (length === "fields" && isWrapper.test(tool.least) ? 1 : 0);
    const longerOnes = [...calls.keys()].filter((tool) => added(tool) !== "");
    for (const tool of longerOnes.toSorted((a, b) => need(b) - need(a) || worth(b, added(b)) - worth(a, added(a)))) {
      const more = new Map(longer).set(tool, tool[length]);
      if (fits(more)) longer = more;
    }
  }
  return longer;
}

/** A call whose outline is one field. */
const isWrapper = /: \{ \w+ \}$/;

/** How much each token of a text about the tool is used. */
const worth = ({ uses }: EverydayTool, text: string) => uses / estimateTokens(text);
