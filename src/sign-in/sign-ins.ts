/** Sign-ins as a person asks for them: which servers there are to sign in to, in, out, and where one is. */

import type { ToolCatalog } from "../catalog/tool-catalog.ts";
import type { CredentialStore } from "../clients/auth/credentials.ts";
import { type SignInStatus, signInStatus, signOut } from "../clients/auth/sign-in.ts";
import type { Pool } from "../clients/pool.ts";
import type { Config, NetworkServer } from "../config/load.ts";
import { ClaudikinsError, toClaudikinsError } from "../errors.ts";
import { type SignInOptions, signIn } from "./sign-in.ts";

/** What `claudikins auth login` came to. */
export interface LoginReport {
  server: string;
  result: "signed in" | "already signed in" | "no sign-in needed";
  tools: number;
  scopes?: string[];
  /** Milliseconds since 1970. */
  expiresAt?: number;
}

/** `"token in the config"` and `"off"` (`"oauth": false`) are servers that nobody signs in to here. */
export type Standing = { server: string } & (SignInStatus | { state: "token in the config" } | { state: "off" });

/** Throws SERVER_NOT_FOUND, and USAGE where there is nothing to sign in to. */
export function serverToSignInTo(name: string, { pool, config }: { pool: Pool; config: Config }): NetworkServer {
  pool.state(name);
  const server = config.servers.get(name);
  if (server?.url === undefined) {
    throw new ClaudikinsError("USAGE", `Server "${name}" is a local program and has no sign-in`, {
      hint: 'Set its credentials under "env" in its config entry.',
    });
  }
  const way = wayOf(server);
  if (way === "token in the config") {
    throw new ClaudikinsError("USAGE", `Server "${name}" gets its token from the config and needs no sign-in`, {
      hint: 'To sign in instead, remove Authorization from "headers" or the user from "url".',
    });
  }
  if (way === "off") {
    throw new ClaudikinsError(
      "USAGE",
      `Server "${name}" has "oauth": false in the config, which turns its sign-in off`,
      {
        hint: "To sign in, remove that from its entry.",
      },
    );
  }
  return server;
}

/** Those that answer nobody who is not signed in, and those that gave no answer at all: every one is asked, all together. */
export async function serversThatWait(
  catalog: ToolCatalog,
  signal: AbortSignal,
): Promise<{ waiting: NetworkServer[]; broken: NetworkServer[] }> {
  const servers = networkServers(catalog.config).filter((server) => wayOf(server) === "sign-in");
  const codes = await Promise.all(
    servers.map(({ name }) =>
      catalog.fetch(name, signal).then(
        () => "OK",
        (error) => toClaudikinsError(error).code,
      ),
    ),
  );
  if (signal.aborted)
    throw new ClaudikinsError("CANCELLED", "The search for servers that need a sign-in was cancelled");
  return {
    waiting: servers.filter((_, place) => codes[place] === "AUTH_REQUIRED"),
    broken: servers.filter((_, place) => codes[place] !== "AUTH_REQUIRED" && codes[place] !== "OK"),
  };
}

/** Signs in unless that is done or not needed, and asks for the tools. Throws as `signIn` and `fetch` do. */
export async function login(
  server: NetworkServer,
  catalog: ToolCatalog,
  credentials: CredentialStore,
  options: SignInOptions & { force: boolean },
): Promise<LoginReport> {
  const { name } = server;
  const report = (result: LoginReport["result"], tools: number): LoginReport => {
    const status = signInStatus(server, credentials);
    const { scopes = undefined, expiresAt = undefined } = status.state === "signed in" ? status : {};
    return { server: name, result, tools, ...(scopes ? { scopes } : {}), ...(expiresAt ? { expiresAt } : {}) };
  };
  const isSignedIn = () => signInStatus(server, credentials).state === "signed in";
  const wasSignedIn = isSignedIn();
  let openTools: number | undefined;
  if ((!options.force && !wantsMore(server, credentials)) || server.needs.length > 0) {
    openTools = await toolsOf(name, catalog, options.signal);
    // Client credentials were asked for tokens meanwhile.
    if (openTools !== undefined && isSignedIn())
      return report(wasSignedIn ? "already signed in" : "signed in", openTools);
  }
  // Some servers show their tools to everybody, and want a sign-in for calls alone.
  const isDone = await signIn(server, credentials, { ...options, ifOffered: openTools !== undefined });
  if (!isDone && openTools !== undefined) return report("no sign-in needed", openTools);
  try {
    return report("signed in", (await catalog.fetch(name, options.signal)).tools.length);
  } catch (error) {
    const { code, message, hint } = toClaudikinsError(error);
    // To sign in once more is no help.
    const ask = 'Ask its operator which scopes it needs, and list them in "scopes" under "oauth" in the config.';
    throw new ClaudikinsError(code, `The sign-in to "${name}" succeeded, but: ${message}`, {
      hint: code === "AUTH_REQUIRED" ? ask : hint,
    });
  }
}

/** How many tools there are; undefined when the server wants a sign-in first. */
async function toolsOf(name: string, catalog: ToolCatalog, signal: AbortSignal): Promise<number | undefined> {
  try {
    return (await catalog.fetch(name, signal)).tools.length;
  } catch (error) {
    if (error instanceof ClaudikinsError && error.code === "AUTH_REQUIRED") return undefined;
    throw error;
  }
}

/** A tool asked for a right that the sign-in does not have. */
function wantsMore(server: NetworkServer, credentials: CredentialStore): boolean {
  const { tokens, wantedScopes = [] } = credentials.read(server) ?? {};
  return wantedScopes.some((scope) => !tokens?.scopes.includes(scope));
}

/** Of one server, or of all that are on the network. No network is asked. */
export function standings(servers: NetworkServer[], credentials: CredentialStore): Standing[] {
  return servers.map((server) => {
    const way = wayOf(server);
    return { server: server.name, ...(way === "sign-in" ? signInStatus(server, credentials) : { state: way }) };
  });
}

/** Each is tried; false where there was nothing to give up. Throws what the first that failed threw. */
export async function logout(
  servers: NetworkServer[],
  credentials: CredentialStore,
  signal: AbortSignal,
): Promise<{ server: string; signedOut: boolean }[]> {
  const tried = await Promise.allSettled(servers.map((server) => signOut(server, credentials, { signal })));
  const failed = tried.find((each) => each.status === "rejected");
  if (failed) throw failed.reason;
  return servers.map(({ name }, place) => ({
    server: name,
    signedOut: (tried[place] as PromiseFulfilledResult<boolean>).value,
  }));
}

export function networkServers(config: Config): NetworkServer[] {
  return [...config.servers.values()].filter((server) => server.url !== undefined);
}

/** Who gives a server its token: a person who signs in, or the config; `off` is nobody. */
export function wayOf({ url, headers, oauth }: NetworkServer): "sign-in" | "token in the config" | "off" {
  const hasUser = URL.canParse(url) && new URL(url).username !== "";
  if (hasUser || Object.keys(headers).some((name) => name.toLowerCase() === "authorization")) {
    return "token in the config";
  }
  return oauth === false ? "off" : "sign-in";
}
