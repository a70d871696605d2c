/** The tools of one server with what the config says about them. */

import type { Toolbox } from "../app/toolbox.ts";
import { matches } from "../config/pattern.ts";
import { pathText, type ServerPolicy } from "../config/policy.ts";
import { confirmationOf, denialOf, effectOf } from "../policy/decision.ts";
import type { RegistryTool } from "../tools/model.ts";
import { firstSentence } from "../tools/signature.ts";
import type { DeniedPattern, Tool, Tools } from "./contract.ts";

/** Characters of a description. */
const maxDescription = 300;

export class ToolViews {
  /** Tools whose policy the page has changed, by server. A tool that was denied is listed by its server again only later. */
  readonly #touched = new Map<string, Map<string, RegistryTool>>();

  /** Throws SERVER_NOT_FOUND. */
  of(server: string, { catalog, pool, config }: Toolbox): Tools {
    pool.state(server);
    const known = knownTools(server, catalog);
    const all = new Map([
      ...(this.#touched.get(server) ?? []),
      ...(known ?? []).map((tool) => [tool.name, tool] as const),
    ]);
    const { policy } = config.servers.get(server) ?? {};
    const tools = [...all.values()]
      .sort((one, other) => (one.name < other.name ? -1 : 1))
      .map((tool) => toolOf(tool, policy));
    return {
      server,
      tools,
      patterns: (policy ? patternsIn(server, policy) : []).filter(
        ({ pattern }) => !tools.some(({ name }) => matches(pattern, name)),
      ),
      allowLines: policy?.allow.map(({ line }) => line) ?? [],
      isKnown: known !== undefined,
      canChange: config.origin.kind !== "demo",
    };
  }

  /** Remembers a tool whose policy is about to change. */
  touch(server: string, tool: string, { catalog }: Toolbox): void {
    const found = knownTools(server, catalog)?.find(({ name }) => name === tool);
    if (!found) return;
    const touched = this.#touched.get(server) ?? new Map<string, RegistryTool>();
    this.#touched.set(server, touched.set(tool, found));
  }
}

/** The tools as they were listed last, even if the policy has changed since. Undefined if they were never listed. */
export function knownTools(server: string, catalog: Toolbox["catalog"]): RegistryTool[] | undefined {
  const known = catalog.findWithDenied(server) ?? catalog.visibleServers.find(({ name }) => name === server);
  return known?.tools;
}

function toolOf({ name, description, title, annotations }: RegistryTool, policy: ServerPolicy | undefined): Tool {
  const denied = policy && denialOf(policy, name);
  const confirmation = policy && confirmationOf(policy, name);
  return {
    name,
    description: firstSentence(description || title || "").slice(0, maxDescription),
    effect: effectOf(annotations),
    denied,
    confirm: confirmation?.mode ?? "never",
    confirmLine: confirmation?.line,
  };
}

/** Tools that the config denies are in no registry, so only its patterns are known. */
function patternsIn(server: string, { deny }: ServerPolicy): DeniedPattern[] {
  const own = pathText(["mcpServers", server, "deny"]);
  const all = deny.flatMap(({ patterns, line }) =>
    // A pattern of the entry may begin with the server's name, and counts with it and without it.
    patterns
      .filter((each) => !patterns.includes(each.slice(server.length + 1)) || !each.startsWith(`${server}.`))
      .map((pattern) => ({ pattern, line, isOwn: line.startsWith(own) })),
  );
  return [...new Map(all.map((each) => [JSON.stringify([each.pattern, each.isOwn]), each])).values()];
}
