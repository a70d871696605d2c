/** `claudikins list`: facts about every configured server without starting it, and with `--check` after starting it. */
import { basename } from "node:path";
import { problemOf } from "../../base/errors.ts";
import {
  about,
  either,
  exactly,
  number,
  oneOf,
  problem,
  record,
  text,
  texts,
  time,
  type ValueOf,
  yesOrNo,
} from "../../base/json-shape.ts";
import { boxEngine } from "../../config/box.ts";
import { type Config, ownServersOf, type ServerConfig } from "../../config/load.ts";
import { sourceKinds } from "../../config/sources.ts";
import type { Pool } from "../../servers/pool.ts";
import { residentBytes } from "../../servers/process/resident-memory.ts";
import { type ServerState, stateText } from "../../servers/state.ts";
import { redactorOf } from "../../servers/values/secrets.ts";
import { askedAt } from "../registry/store.ts";
import { registryOf } from "./registries.ts";
import { sessionOf } from "./session-of.ts";
import type { CatalogParts, ToolCatalog } from "./tool-catalog.ts";

/** The facts contain no secrets: no arguments, and of variables only the names of missing ones. */
const facts = {
  server: text,
  transport: oneOf("stdio", "http", "sse", "websocket", ...sourceKinds),
  "program?": about("The last part of the command's path", text),
  "host?": about("Host and port of a server on the network", text),
  "sandbox?": about(
    "What confines the server, and what its sandbox opens",
    record({ by: text, read: texts, write: texts, network: either(yesOrNo, texts) }),
  ),
  "account?": about("The account that the entry is for", text),
  "description?": text,
  "tools?": about("Number of known tools that the config allows", number),
  "denied?": number,
  "held?": about("Tools that are held because their definitions changed, by their own names", texts),
  "session?": about("Whether agents share one process of the server, or each has its own", oneOf("shared", "private")),
  "from?": about(
    "With a project's config: whether the server is in it, or in your own config",
    oneOf("project", "own"),
  ),
  "askedAt?": about("When the server was last listed, in milliseconds since 1970", number),
  "protocol?": about("The revision of MCP that the server spoke when it was last connected or listed", text),
  "version?": about("The server's own version", text),
};
const factsShape = record(facts);
export type ServerFacts = ValueOf<typeof factsShape> & { state: ListedState };

/** `denied`: the config denies all tools, so the server is never started. */
type ListedState = ServerState | { state: "denied" } | { state: "disabled" };

/** The state in a few words, with the age of a failure. */
export function listedStateText(state: ListedState): string {
  if (state.state === "denied") return "denied";
  if (state.state === "disabled") return "disabled";
  return stateText(state);
}

/**
 * The fields that a check adds. `problem` says why the tools cannot be called now; its lines after the first are the server's last output.
 */
const findings = {
  "unchecked?": about("The command was interrupted before the server had answered", exactly(true)),
  "memoryBytes?": about("Resident memory of all its processes", number),
  "problem?": problem,
  "misfits?": about(
    "What is missing from the tools and why: pages that cannot be read, and `tools` in the config that do not fit",
    texts,
  ),
};
const findingsShape = record(findings);
export type CheckedServer = ServerFacts & ValueOf<typeof findingsShape>;

/** A server in the output of `claudikins list --json`: its facts, with the facts of its state. */
export const serverShape = record({
  ...facts,
  state: oneOf("idle", "starting", "ready", "needs", "signed out", "broken", "denied", "disabled"),
  "variables?": about("Variables that are not set", texts),
  "since?": time,
  "startMs?": number,
  "pid?": number,
  "code?": text,
  "why?": text,
  "hint?": text,
  "failures?": about("Consecutive failures", number),
  "retryAt?": time,
  "lasting?": about("Whether another attempt fails until a person has changed something", yesOrNo),
  "missing?": about("The path of a file that does not exist", text),
  "said?": about("The most telling line of the server's output", text),
  ...findings,
});

/** The facts, with how agents share each server. */
export async function withSessions<Facts extends ServerFacts>(
  facts: readonly Facts[],
  catalog: ToolCatalog,
): Promise<Facts[]> {
  return await Promise.all(
    facts.map(async (each) => {
      const { session } = await sessionOf(catalog.config.servers.get(each.server)!, catalog.toolNames(each.server));
      return { ...each, session };
    }),
  );
}

/** Returns facts in the order of the config. Starts nothing. */
export function inventory({ catalog, pool }: CatalogParts): ServerFacts[] {
  return [...catalog.config.servers.values()].map((config) => factsOf(config, catalog, pool));
}

/** The servers that the config disables. */
export function disabledServers({ disabled }: Config): ServerFacts[] {
  return [...disabled.values()].map((config) => {
    const { name: server, description } = config;
    return { server, ...wayTo(config), description: description || undefined, state: { state: "disabled" } };
  });
}

/**
 * Starts all servers, or those that `only` names, concurrently and lists their tools, which are then stored. Each takes at most its `startTimeoutMs` and
 * `callTimeoutMs`. A server that fails has a problem and does not affect the others.
 */
export async function checkServers(
  { catalog, pool }: CatalogParts,
  options: { signal?: AbortSignal | undefined; onServer?: (name: string) => void; only?: readonly string[] } = {},
): Promise<CheckedServer[]> {
  const isMeant = ({ name }: ServerConfig) => options.only === undefined || options.only.includes(name);
  const checked = await Promise.all(
    [...catalog.config.servers.values()].filter(isMeant).map(async (config) => {
      const { name } = config;
      // Closed servers are never started.
      const asked = catalog.isClosed(name) ? undefined : catalog.tools(name, { signal: options.signal });
      const problem = await asked
        ?.then(() => ({}))
        // An interrupted server may be healthy.
        .catch((error: unknown) =>
          options.signal?.aborted ? { unchecked: true as const } : { problem: problemOf(error) },
        );
      options.onServer?.(name);
      const misfits = catalog.misfits(name);
      return {
        ...factsOf(config, catalog, pool),
        ...problem,
        ...(misfits.length > 0 ? { misfits: [...misfits] } : {}),
      };
    }),
  );
  const pids = checked.flatMap(({ state }) => (state.state === "ready" && state.pid ? [state.pid] : []));
  const bytes = residentBytes(pids);
  return checked.map((facts) => {
    return { ...facts, memoryBytes: facts.state.state === "ready" ? bytes.get(facts.state.pid ?? 0) : undefined };
  });
}

function factsOf(config: ServerConfig, catalog: ToolCatalog, pool: Pool): ServerFacts {
  const { name, account, description } = config;
  const known = catalog.find(name);
  const { protocol, version } = pool.identity(name) ?? known ?? {};
  return {
    server: name,
    ...wayTo(config),
    ...(ownServersOf(catalog.config).length > 0 ? { from: config.own ? "own" : "project" } : {}),
    ...(config.box ? { sandbox: { by: boxEngine, ...config.box } } : {}),
    account,
    description: description || undefined,
    state: catalog.isClosed(name) ? { state: "denied" } : pool.stateOrFailure(name),
    tools: known?.tools.length,
    denied: known?.denied || undefined,
    held: known?.held?.tools.map((tool) => tool.name),
    // It looks at a file, and the page of many servers reads the facts several times a second without it.
    get askedAt() {
      return known && askedAt(registryOf(catalog.config, name), known);
    },
    protocol,
    version,
  };
}

function wayTo(config: ServerConfig): Pick<ServerFacts, "transport" | "program" | "host"> {
  if (config.url === undefined) return { transport: "stdio", program: basename(redactorOf(config)(config.command)) };
  const transport = config.transport === "auto" ? "http" : config.transport;
  // A URL with a missing variable has no host yet. Userinfo, path and query may contain a token.
  return { transport, host: URL.parse(config.url)?.host || undefined };
}
