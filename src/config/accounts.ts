/** Entries of the same server with different accounts: which entries belong together, and which account each one is for. */
import type { ServerConfig } from "./load.ts";

type Servers = ReadonlyMap<string, ServerConfig>;

/** The other entries that start the same program or reach the same address, in the order of the config. */
export function twinsOf(name: string, servers: Servers): string[] {
  const own = servers.get(name);
  if (own === undefined) return [];
  const key = sameServerKey(own);
  const twins: string[] = [];
  for (const each of servers.values()) if (each !== own && sameServerKey(each) === key) twins.push(each.name);
  return twins;
}

/** `for the account ada@example.com`, or which entries are the same server. Undefined for a server that cannot be confused with another one. */
export function accountNote(name: string, servers: Servers): string | undefined {
  const account = servers.get(name)?.account;
  if (account !== undefined) return `${name} is for the account ${JSON.stringify(account)}`;
  const twins = twinsOf(name, servers);
  return twins.length === 0 ? undefined : `${name} and ${twins.join(", ")} are the same server, set up separately`;
}

/** The accounts of these servers, by name. Undefined if the config names none. */
export function accountsOf(names: readonly string[], servers: Servers): Record<string, string> | undefined {
  const known = names.flatMap((name): [string, string][] => {
    const account = servers.get(name)?.account;
    return account === undefined ? [] : [[name, account]];
  });
  return known.length === 0 ? undefined : Object.fromEntries(known);
}

/** Credentials are not part of it: environment, headers, userinfo and query. */
export function sameServerKey(server: ServerConfig): string {
  let key = keys.get(server);
  if (key === undefined) {
    key = keyOf(server);
    keys.set(server, key);
  }
  return key;
}

/** Each entry is compared with all others. With a thousand of them, making each key once saves 0.2 s at the start of `serve`. */
const keys = new WeakMap<ServerConfig, string>();

function keyOf(server: ServerConfig): string {
  if (server.url === undefined) return JSON.stringify([server.command, server.args, server.cwd ?? null]);
  const url = URL.parse(server.url);
  return url === null ? server.url : `${url.origin}${url.pathname}`;
}
