/** The servers of all pools of this process, and those that run in boxes. What one of them may write decides what the box of another may open. */
import type { Environment } from "../../config/environment.ts";
import type { ServerConfig } from "../../config/load.ts";

export interface Neighbours {
  servers: ReadonlyMap<string, ServerConfig>;
  env: Environment;
  /** The working directory of servers that name none. */
  cwd: string;
}

export interface Neighbour extends Pick<Neighbours, "env" | "cwd"> {
  server: ServerConfig;
}

/** The servers of open pools and running boxes. */
export const allNeighbours = new Set<Neighbours>();

/** Each once, with its own working directory. */
export function neighbours(): Neighbour[] {
  const found = new Map<string, Neighbour>();
  for (const { servers, env, cwd } of allNeighbours) {
    for (const server of servers.values()) {
      const each = { server, env, cwd: server.cwd ?? cwd };
      found.set(markOf(each), each);
    }
  }
  return [...found.values()];
}

/** Equal for servers that start the same program in the same box. */
export function markOf({ server, cwd }: Neighbour): string {
  return JSON.stringify([server.name, startOf(server), cwd, server.box?.write]);
}

/** The program that a server starts, with its arguments. */
export function startOf(server: ServerConfig): { command: string; args: readonly string[] } {
  if (server.url === undefined) return server;
  const [command = "", ...args] = server.headersHelper?.trim().split(/\s+/) ?? [];
  return { command, args };
}
