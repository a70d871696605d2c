/** The parts of a server's config entry that the registry has: category, description, a fingerprint, and the visible tools. */

import { sha256 } from "../../base/sha256.ts";
import { version } from "../../base/version.ts";
import { defaultDefinitionMode } from "../../config/defaults.ts";
import { isInView } from "../../config/doors.ts";
import type { Config, ServerConfig } from "../../config/load.ts";
import { isSourceKind, sourceMark } from "../../config/sources.ts";
import { ownNameOf } from "../../config/tool-edits.ts";
import { closingLine, denialOf } from "../../policy/decision.ts";
import { configOwner } from "../../servers/logs/place.ts";
import type { Offer, RegistryServer, RegistryTool, ToolRules } from "../model.ts";
import type { CatalogResults } from "../server-catalog.ts";

/** The category of servers that have none in the config and are not in the server catalog. */
const defaultCategory = "other";

export interface AboutServer {
  category: string;
  description: string;
  /** The results of its tools, from the server catalog. Empty for other servers. */
  results: CatalogResults["tools"];
  /** The arguments of its usual tools, from the server catalog. Empty for other servers. */
  usual: NonNullable<CatalogResults["usual"]>;
}

/**
 * Adds the category, the description and the results of the tools from the server catalog where the config has none. If the server has been
 * asked, its results are also found by the names of its tools.
 */
export async function aboutServer(config: ServerConfig, listed: readonly string[] = []): Promise<AboutServer> {
  const { recognise, recogniseByTools, resultsOf } = await import("../server-catalog.ts");
  const known = recognise(config);
  // A server with the same tools may be a different product, so it keeps its own description.
  const { tools = {}, usual = {} } = resultsOf(config) ?? recogniseByTools(listed)?.results ?? {};
  return {
    category: config.category ?? known?.category ?? defaultCategory,
    description: config.description ?? known?.description ?? "",
    results: tools,
    usual,
  };
}

/**
 * Two entries with the same fingerprint have the same tools under the same names. Variables and headers count by name only, so
 * that a fingerprint contains no secret. The policy counts because the registry holds only allowed tools, and our version because
 * the server catalog may differ in another one.
 */
export function fingerprintOf(config: ServerConfig, jsName: string | undefined, rules: ToolRules | undefined): string {
  const names = [jsName ?? null, config.category ?? null, config.description ?? null];
  if (config.view) names.push(JSON.stringify(config.view));
  if (config.edits) names.push(JSON.stringify(config.edits.written));
  const { mode } = config.definitions ?? {};
  if (mode !== undefined && mode !== defaultDefinitionMode) names.push(mode);
  return sha256(JSON.stringify([version, ...wayOf(config), ...names, rules ?? null])).slice(0, 16);
}

/** Whether the entry has changed since the server was listed, but only by rules that deny more. No tool is missing then. */
export function deniesMoreOnly(server: RegistryServer, config: ServerConfig, jsName: string | undefined): boolean {
  if (server.fingerprint !== fingerprintOf(config, jsName, server.rules)) return false;
  const [before, now] = [server.rules ?? noRules, rulesOf(config) ?? noRules];
  const isWithin = (patterns: string[], all: string[]) => patterns.every((pattern) => all.includes(pattern));
  return (
    isWithin(before.deny, now.deny) &&
    before.allow.every((old) => now.allow.some((patterns) => isWithin(patterns, old)))
  );
}

/** How the server is started or reached. */
function wayOf(config: ServerConfig): unknown[] {
  return config.url === undefined
    ? [config.command, config.args, config.cwd ?? null, Object.keys(config.env).sort()]
    : [
        ...[config.transport, config.url, Object.keys(config.headers).sort()],
        // Its text may contain a secret.
        ...(config.headersHelper === undefined ? [] : ["headersHelper"]),
        ...(isSourceKind(config.transport) ? [sourceMark(config)] : []),
      ];
}

const entryKeys = new WeakMap<ServerConfig, string>();

/**
 * The key under which claudikins stores observations from a server's calls. It changes with the entry. Another config, another door, or
 * another entry of the same name is another server.
 */
export function entryKeyOf({ origin, extended, door }: Config, server: ServerConfig): string {
  const known = entryKeys.get(server);
  if (known !== undefined) return known;
  const owner = configOwner(server.own && extended ? { kind: "user", file: extended.file } : origin);
  const behind = door === undefined ? [] : [{ door }];
  const key = sha256(JSON.stringify([owner, server.name, ...wayOf(server), ...behind])).slice(0, 24);
  entryKeys.set(server, key);
  return key;
}

const noRules: ToolRules = { allow: [], deny: [] };

/** The rules that decide which tools are stored. Undefined if all tools are. */
export function rulesOf(config: ServerConfig): ToolRules | undefined {
  const policy = storedPolicy(config);
  if (!policy || policy.allow.length + policy.deny.length === 0) return undefined;
  const hashes = (patterns: string[]) => patterns.map((pattern) => sha256(pattern).slice(0, 12));
  const allow = policy.allow.map(({ patterns }) => hashes(patterns));
  return { allow, deny: policy.deny.flatMap(({ patterns }) => hashes(patterns)) };
}

/** The rules that the stored tools follow. In the user's own registry, these are not the rules of the project that uses it. */
function storedPolicy({ own, policy }: ServerConfig): ServerConfig["policy"] {
  return own ? own.policy : policy;
}

/** Whether the config denies everything of the server. */
export function isClosed(config: ServerConfig | undefined): boolean {
  return config?.policy !== undefined && closingLine(config.policy) !== undefined;
}

/** Whether tools were stored with other edits than the config has now, so that they have other names or arguments. */
export function hasOtherEdits({ tools }: RegistryServer, config: ServerConfig | undefined): boolean {
  return config !== undefined && tools.some((tool) => ownNameOf(config.edits, tool) === undefined);
}

/**
 * The same object if all its tools are visible, else a copy without those that the config denies. A door may have hidden tools since they
 * were stored.
 */
export function visibleTools(server: RegistryServer, config: ServerConfig | undefined): RegistryServer {
  if (!config) return server;
  const isShown = (tool: RegistryTool) => isInView(config.view, ownNameOf(config.edits, tool) ?? tool.name);
  const shown = server.tools.every(isShown) ? server : { ...server, tools: server.tools.filter(isShown) };
  const isInThisView = (tool: string) => isInView(config.view, tool);
  return withoutDenied(withHeld(withOffers(shown, isInThisView), isInThisView), config, config.policy);
}

/** The server as the registry stores it. */
export function storedTools(server: RegistryServer, config: ServerConfig): RegistryServer {
  return withoutDenied(server, config, storedPolicy(config));
}

/** Rules match the tools' own names. */
function withoutDenied(
  server: RegistryServer,
  { edits }: ServerConfig,
  policy: ServerConfig["policy"],
): RegistryServer {
  if (!policy) return server;
  const isAllowed = (tool: string) => denialOf(policy, tool) === undefined;
  const tools = server.tools.filter((tool) => isAllowed(ownNameOf(edits, tool) ?? tool.name));
  const denied = server.tools.length - tools.length;
  const shown = denied === 0 ? server : { ...server, tools, denied: (server.denied ?? 0) + denied };
  return withHeld(withOffers(shown, isAllowed), isAllowed);
}

/** Rules name what is beside tools by the functions that read it. */
const readers: Record<Offer["kind"], string> = {
  resource: "resources.read",
  template: "resources.read",
  prompt: "prompts.get",
  skill: "resources.read",
};

function withOffers(server: RegistryServer, isShown: (tool: string) => boolean): RegistryServer {
  const { offers, ...rest } = server;
  if (!offers || offers.every(({ kind }) => isShown(readers[kind]))) return server;
  const shown = offers.filter(({ kind }) => isShown(readers[kind]));
  return shown.length === 0 ? rest : { ...rest, offers: shown };
}

/** Without the names of held tools that must not be known here. */
function withHeld(server: RegistryServer, isShown: (tool: string) => boolean): RegistryServer {
  const { held, ...rest } = server;
  if (!held || held.tools.every(({ name }) => isShown(name))) return server;
  const tools = held.tools.filter(({ name }) => isShown(name));
  return tools.length === 0 ? rest : { ...rest, held: { ...held, tools } };
}
