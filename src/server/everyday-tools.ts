/** The tools of everyday work, which agents call without a search: those that programs called most, by the ledger. */
import { briefSignature } from "../registry/brief-signature.ts";
import type { RegistryServer, RegistryTool } from "../registry/model.ts";
import { callPath } from "../registry/signature.ts";
import { estimateTokens } from "../token-estimate.ts";
import type { Toolbox } from "../toolbox/toolbox.ts";
import { oneLine } from "../visible-text.ts";

export interface EverydayTool {
  server: string;
  /** `demo.get_order({ order_id })`. */
  call: string;
  /** The call, with the result if it is known. */
  whole: string;
  /** How much each token of the call is used. */
  worth: number;
}

/** Longer calls are left to the search. */
const maxChars = 400;

/** More than fit into an ordinary surface. */
const maxTools = 60;

/** The tools of these servers that programs called most, sorted by server and name. Recent calls count more. */
export function everydayTools({ ledger, catalog, config }: Toolbox, servers: readonly string[]): EverydayTool[] {
  if (!config.surfaceLearns) return [];
  const used = [...ledger.weightsOf(servers)].flatMap(([name, weights]) => {
    const server = catalog.find(name);
    return (server?.tools ?? []).flatMap((tool) => {
      const weight = weights.get(tool.name);
      return weight === undefined ? [] : [{ server: server!, tool, weight }];
    });
  });
  const most = new Set(used.toSorted((a, b) => b.weight - a.weight).slice(0, maxTools));
  return used.flatMap((each) => (most.has(each) ? (everydayTool(each.server, each.tool, each.weight) ?? []) : []));
}

function everydayTool(server: RegistryServer, tool: RegistryTool, weight: number): EverydayTool | undefined {
  const { args, result } = briefSignature(tool);
  const call = oneLine(`${callPath(server, tool)}${args}`, maxChars + 1);
  if (call.length > maxChars) return undefined;
  const whole = result === undefined ? call : oneLine(`${call}: ${result}`, maxChars + 1);
  return {
    server: server.name,
    call,
    whole: whole.length > maxChars ? call : whole,
    worth: weight / estimateTokens(call),
  };
}

/**
 * The calls to show: as many as fit, those of the greatest worth first. Names of arguments cannot be guessed, so results take only
 * the room that is left.
 */
export function fittingCalls(
  tools: readonly EverydayTool[],
  fits: (calls: ReadonlyMap<EverydayTool, string>) => boolean,
): ReadonlyMap<EverydayTool, string> {
  const byWorth = tools.toSorted((a, b) => b.worth - a.worth);
  let calls: ReadonlyMap<EverydayTool, string> = new Map();
  for (const part of ["call", "whole"] as const) {
    for (const tool of byWorth) {
      if (part === "whole" && !calls.has(tool)) continue;
      const more = new Map(calls).set(tool, tool[part]);
      if (fits(more)) calls = more;
    }
  }
  // In the order of the servers, whatever was used most.
  return new Map(tools.flatMap((tool) => (calls.has(tool) ? [[tool, calls.get(tool)!]] : [])));
}
