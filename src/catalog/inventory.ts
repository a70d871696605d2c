/** `claudikins list`: facts about every configured server without starting it, and with `--check` after starting it. */
import { basename } from "node:path";
import type { Pool } from "../clients/pool.ts";
import { residentBytes } from "../clients/resident-memory.ts";
import { redactorOf } from "../clients/secrets.ts";
import type { ServerState } from "../clients/state.ts";
import type { ServerConfig } from "../config/load.ts";
import { type Problem, problemOf } from "../errors.ts";
import { askedAt } from "../registry/store.ts";
import type { ToolCatalog } from "./tool-catalog.ts";

/** Contains no secrets: no arguments, and of variables only the names of missing ones. */
export interface ServerFacts {
  server: string;
  transport: "stdio" | "http" | "sse" | "websocket";
  /** The last part of the command's path. */
  program?: string;
  /** Host and port of a server on the network. */
  host?: string;
  description?: string;
  state: ServerState;
  /** Number of known tools that the config allows. Undefined if nothing counts for the current entry. */
  tools?: number;
  /** Number of tools that the config denies. Undefined if it denies none. */
  denied?: number;
  /** When the server was last listed, in milliseconds since 1970. */
  askedAt?: number;
}

export interface CheckedServer extends ServerFacts {
  /** Resident memory of all its processes, if the system reports it. */
  memoryBytes?: number;
  /** Why its tools cannot be called now. Lines after the first are the server's last output. */
  problem?: Problem;
}

interface Parts {
  catalog: ToolCatalog;
  pool: Pool;
}

/** Returns facts in the order of the config. Starts nothing. */
export function inventory({ catalog, pool }: Parts): ServerFacts[] {
  return [...catalog.config.servers.values()].map((config) => factsOf(config, catalog, pool));
}

/**
 * Starts all servers concurrently and lists their tools, which are then stored. Each takes at most its `startTimeoutMs` and
 * `callTimeoutMs`. A server that fails has a problem and does not affect the others.
 */
export async function checkServers(
  { catalog, pool }: Parts,
  options: { signal?: AbortSignal | undefined; onServer?: (name: string) => void } = {},
): Promise<CheckedServer[]> {
  const checked = await Promise.all(
    [...catalog.config.servers.values()].map(async (config) => {
      const { name } = config;
      // Closed servers are never started.
      const asked = catalog.isClosed(name) ? undefined : catalog.fetch(name, options.signal);
      const problem = await asked?.then(() => ({})).catch((error: unknown) => ({ problem: problemOf(error) }));
      options.onServer?.(name);
      return { ...factsOf(config, catalog, pool), ...problem };
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
  // A URL with a missing variable has no host yet. Userinfo, path and query may contain a token.
  return { transport, ...(URL.canParse(config.url) ? { host: new URL(config.url).host } : {}) };
}
