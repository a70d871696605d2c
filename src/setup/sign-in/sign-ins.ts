/** The sign-ins to servers: lists them, signs in and signs out. */

import { ClaudikinsError, toClaudikinsError } from "../../base/errors.ts";
import { number, oneOf, record, text, texts, time, type ValueOf } from "../../base/json-shape.ts";
import { usesOwn } from "../../config/credentials.ts";
import type { Environment } from "../../config/environment.ts";
import type { Config, NetworkServer } from "../../config/load.ts";
import { wantsSignIn } from "../../config/oauth.ts";
import type { CredentialStore } from "../../servers/auth/credentials.ts";
import { type SignInStatus, signInStatus, signOut } from "../../servers/auth/sign-in.ts";
import type { Pool } from "../../servers/pool.ts";
import type { ToolCatalog } from "../../tools/catalog/tool-catalog.ts";
import { type SignInOptions, signIn } from "./sign-in.ts";

/** The result of `claudikins auth login`. */
export const loginShape = record({
  server: text,
  result: oneOf("signed in", "already signed in", "no sign-in needed"),
  tools: number,
  "scopes?": texts,
  "expiresAt?": time,
});
export type LoginReport = ValueOf<typeof loginShape>;

/** Servers without a sign-in of the user. `"off"` is `"oauth": false`, and `"each person"` a server that uses each person's own credentials. */
type OtherMethod = "token in the config" | "headersHelper" | "off" | "each person";

export type ServerAuthStatus = { server: string; account?: string } & (SignInStatus | { state: OtherMethod });

/** Throws SERVER_NOT_FOUND, and USAGE for a server without a sign-in. */
export function serverToSignInTo(name: string, { pool, config }: { pool: Pool; config: Config }): NetworkServer {
  pool.state(name);
  const server = config.servers.get(name);
  if (server?.url === undefined) {
    throw new ClaudikinsError("USAGE", `Server "${name}" is a local program and has no sign-in`, {
      hint: 'Set its credentials under "env" in its config entry.',
    });
  }
  const method = authMethodOf(server);
  if (method === "each person") {
    throw new ClaudikinsError(
      "USAGE",
      `Server "${name}" uses the credentials of each person and has no common sign-in`,
      {
        hint: "People sign in when they call it from an agent at claudikins serve --http.",
      },
    );
  }
  if (method === "token in the config") {
    throw new ClaudikinsError("USAGE", `Server "${name}" gets its token from the config and needs no sign-in`, {
      hint: 'To sign in instead, remove Authorization from "headers" or the user from "url".',
    });
  }
  if (method === "headersHelper") {
    throw new ClaudikinsError(
      "USAGE",
      `Server "${name}" gets its headers from its headersHelper and needs no sign-in`,
      {
        hint: 'To sign in as well, add "oauth": {} to its entry.',
      },
    );
  }
  if (method === "off") {
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

/** Asks all servers concurrently, and returns the servers that require a sign-in and the servers that failed otherwise. */
export async function serversThatWait(
  catalog: ToolCatalog,
  signal: AbortSignal,
): Promise<{ waiting: NetworkServer[]; broken: NetworkServer[] }> {
  const servers = networkServers(catalog.config).filter((server) => authMethodOf(server) === "sign-in");
  const codes = await Promise.all(
    servers.map(({ name }) =>
      catalog.tools(name, { signal }).then(
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

/** Signs in if needed, and asks for the tools. Throws what `signIn` and `ToolCatalog.tools` throw. */
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
    // A sign-in with client credentials has fetched its tokens with this request.
    if (openTools !== undefined && isSignedIn())
      return report(wasSignedIn ? "already signed in" : "signed in", openTools);
  }
  // Some servers list their tools without a sign-in and require one for calls.
  const isDone = await signIn(server, credentials, { ...options, ifOffered: openTools !== undefined });
  if (!isDone && openTools !== undefined) return report("no sign-in needed", openTools);
  try {
    return report("signed in", (await catalog.tools(name, { signal: options.signal })).tools.length);
  } catch (error) {
    const { code, message, hint } = toClaudikinsError(error);
    // Another sign-in would not help.
    const ask = 'Ask its operator which scopes it needs, and list them in "scopes" under "oauth" in the config.';
    throw new ClaudikinsError(code, `The sign-in to "${name}" succeeded, but: ${message}`, {
      hint: code === "AUTH_REQUIRED" ? ask : hint,
    });
  }
}

/** The number of tools; undefined if the server requires a sign-in. */
async function toolsOf(name: string, catalog: ToolCatalog, signal: AbortSignal): Promise<number | undefined> {
  try {
    return (await catalog.tools(name, { signal })).tools.length;
  } catch (error) {
    if (error instanceof ClaudikinsError && error.code === "AUTH_REQUIRED") return undefined;
    throw error;
  }
}

/** Whether a tool has asked for a scope that the tokens do not have. */
function wantsMore(server: NetworkServer, credentials: CredentialStore): boolean {
  const { tokens, wantedScopes = [] } = credentials.read(server) ?? {};
  return wantedScopes.some((scope) => !tokens?.scopes.includes(scope));
}

/** The states of the servers' sign-ins, from the stored credentials. */
export function standings(servers: NetworkServer[], credentials: CredentialStore): ServerAuthStatus[] {
  return servers.map((server) => {
    const method = authMethodOf(server);
    const { name, account } = server;
    return {
      server: name,
      ...(account === undefined ? {} : { account }),
      ...(method === "sign-in" ? signInStatus(server, credentials) : { state: method }),
    };
  });
}

/** Signs out of all servers. `signedOut` is false if there was no sign-in. Throws the first failure at the end. */
export async function logout(
  servers: NetworkServer[],
  credentials: CredentialStore,
  options: { signal: AbortSignal; env: Environment },
): Promise<{ server: string; signedOut: boolean }[]> {
  const tried = await Promise.allSettled(servers.map((server) => signOut(server, credentials, options)));
  const failed = tried.find((each) => each.status === "rejected");
  if (failed) throw failed.reason;
  return servers.map(({ name }, place) => ({
    server: name,
    signedOut: (tried[place] as PromiseFulfilledResult<boolean>).value,
  }));
}

export function networkServers(config: Pick<Config, "servers">): NetworkServer[] {
  return [...config.servers.values()].filter((server) => server.url !== undefined);
}

/** How a server gets its token: from a sign-in, from the config, from a program, or not at all. */
export function authMethodOf(server: NetworkServer): "sign-in" | OtherMethod {
  if (usesOwn(server)) return "each person";
  const { url, headers, oauth } = server;
  const hasUser = URL.canParse(url) && new URL(url).username !== "";
  if (hasUser || Object.keys(headers).some((name) => name.toLowerCase() === "authorization")) {
    return "token in the config";
  }
  if (oauth === false) return server.headersHelper === undefined ? "off" : "headersHelper";
  return wantsSignIn(server) ? "sign-in" : "headersHelper";
}
