/** list: what there is to know of every configured server, without starting any; and what shows when all are started. */
import { basename } from "node:path";
import type { Pool } from "../clients/pool.ts";
import { residentBytes } from "../clients/resident-memory.ts";
import { redactorOf } from "../clients/secrets.ts";
import type { ServerState } from "../clients/state.ts";
import type { ServerConfig } from "../config/load.ts";
import { type ErrorCode, toClaudikinsError } from "../errors.ts";
import { askedAt } from "../registry/store.ts";
import type { ToolCatalog } from "./tool-catalog.ts";

/** Nothing secret: no arguments, no variables but the names of those that are missing. */
export interface ServerFacts {
  server: string;
  transport: "stdio" | "http" | "sse" | "websocket";
  /** The last part of the command. */
  program?: string;
  /** Where a server on the network is: its host and port. */
  host?: string;
  description?: string;
  state: ServerState;
  /** As many as the registry knows and the config allows; undefined where it knows none, or those of another entry. */
  tools?: number;
  /** How many more there are that the config denies; undefined where it denies none. */
  denied?: number;
  /** When the server was last asked for them, in milliseconds since 1970. */
  askedAt?: number;
}

export interface CheckedServer extends ServerFacts {
  /** Of all its processes; where the system says so. */
  memoryBytes?: number;
  /** Why its tools cannot be called now; under the first line of the message the server's last words. */
  problem?: { code: ErrorCode; message: string; hint?: string };
}

/** In the order of the config. Starts nothing. */
interface Parts {
  catalog: ToolCatalog;
  pool: Pool;
}

export function inventory({ catalog, pool }: Parts): ServerFacts[] {
  return [...catalog.config.servers.values()].map((config) => factsOf(config, catalog, pool));
}

/**
 * Starts every server, all at once, and asks for its tools, which the registry then knows. None takes longer than its
 * `startTimeoutMs` and its `callTimeoutMs`; one that fails is told of and stops no other.
 */
export async function checkServers(
  { catalog, pool }: Parts,
  options: { signal?: AbortSignal | undefined; onServer?: (name: string) => void } = {},
): Promise<CheckedServer[]> {
  const checked = await Promise.all(
    [...catalog.config.servers.values()].map(async (config) => {
      const problem = await problemOf(config.name, catalog, options.signal);
      options.onServer?.(config.name);
      return { ...factsOf(config, catalog, pool), ...(problem ? { problem } : {}) };
    }),
  );
  const pids = checked.flatMap(({ state }) => (state.state === "ready" && state.pid ? [state.pid] : []));
  const bytes = residentBytes(pids);
  return checked.map((facts) => {
    const memoryBytes = facts.state.state === "ready" ? bytes.get(facts.state.pid ?? 0) : undefined;
    return { ...facts, ...(memoryBytes === undefined ? {} : { memoryBytes }) };
  });
}

function factsOf(config: ServerConfig, catalog: ToolCatalog, pool: Pool): ServerFacts {
  const { name, description } = config;
  const known = catalog.find(name);
  const denied = known?.denied ?? 0;
  const asked = known && askedAt(catalog.config.folders.registry, known);
  return {
    server: name,
    ...wayTo(config),
    ...(description ? { description } : {}),
    state: pool.state(name),
    ...(known ? { tools: known.tools.length } : {}),
    ...(denied > 0 ? { denied } : {}),
    ...(asked === undefined ? {} : { askedAt: asked }),
  };
}

function wayTo(config: ServerConfig): Pick<ServerFacts, "transport" | "program" | "host"> {
  if (config.url === undefined) return { transport: "stdio", program: basename(redactorOf(config)(config.command)) };
  const transport = config.transport === "auto" ? "http" : config.transport;
  // Of an address that lacks a variable nothing is known yet; userinfo, path and query may hold a token.
  return { transport, ...(URL.canParse(config.url) ? { host: new URL(config.url).host } : {}) };
}

async function problemOf(name: string, catalog: ToolCatalog, signal: AbortSignal | undefined) {
  // A server of which the config denies everything is not started.
  if (catalog.isClosed(name)) return undefined;
  try {
    await catalog.fetch(name, signal);
    return undefined;
  } catch (error) {
    const { code, message, hint } = toClaudikinsError(error);
    return { code, message, ...(hint === undefined ? {} : { hint }) };
  }
}
