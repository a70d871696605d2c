/** Signs in to a server, and out. The caller shows the page to the user. */

import { ClaudikinsError } from "../../base/errors.ts";
import type { Environment } from "../../config/environment.ts";
import type { NetworkServer } from "../../config/load.ts";
import { isSourceKind } from "../../config/sources.ts";
import { NetworkFailure } from "../failures/network-failure.ts";
import { type Endpoint, endpointOf } from "../network/endpoint.ts";
import { type CredentialStore, isExpired, needsNobody } from "./credentials.ts";
import type { DeviceSignIn } from "./device.ts";
import { loginCommand } from "./words.ts";

export interface SignIn {
  /** The URL to open in a browser. */
  authorizationUrl: URL;
  /**
   * Takes the complete redirect URL, with code and state or an error. Can be called once. Throws AUTH_REQUIRED with the
   * reason, and errors of `beginSignIn`.
   */
  finish(redirect: URL): Promise<void>;
}

/** Times are milliseconds since 1970. */
export type SignInStatus =
  /** `renewable`: renewed by a request shortly before or after `expiresAt`. */
  | { state: "signed in"; since: number; expiresAt?: number; renewable: boolean; scopes: string[]; issuer: string }
  | { state: "expired"; since: number; expiresAt: number }
  | { state: "signed out" };

interface SurroundedBy {
  /** The environment of this process, for the secrets of the entry. */
  env?: Environment | undefined;
  signal: AbortSignal;
}

/** Throws NEEDS_SECRET. */
async function withOwnValues(server: NetworkServer, env: Environment | undefined): Promise<NetworkServer> {
  if (!server.references || env === undefined) return server;
  return (await import("../values/entry-values.ts")).withEntryValues(server, { env });
}

/** The headers of a program belong to all requests, and to the sign-in too. */
async function endpointWithPrinted(server: NetworkServer, env: Environment = {}): Promise<Endpoint> {
  const endpoint = endpointOf(server);
  if (server.headersHelper === undefined) return endpoint;
  const { HeadersHelper } = await import("../network/headers-helper.ts");
  const printed = await new HeadersHelper(server, () => ({ env })).headers();
  return { ...endpoint, headers: { ...endpoint.headers, ...printed } };
}

/** Where and how to sign in. For a web API, its document says it. */
async function endpointOfSignIn(server: NetworkServer, env: Environment = {}, signal: AbortSignal): Promise<Endpoint> {
  const endpoint = await endpointWithPrinted(server, env);
  if (!isSourceKind(server.transport)) return endpoint;
  const { describedSignIn } = await import("./described.ts");
  const described = await describedSignIn(server, endpoint.headers, { env, signal });
  if (described) return { ...endpoint, url: new URL(described.address), described };
  throw new NetworkFailure("its document describes no sign-in with OAuth or OpenID Connect", {
    code: "CONFIG_INVALID",
    hint: `Add its credentials to the config: "auth": "\${…}".`,
  });
}

/**
 * For a server without other credentials in its config. Undefined if no person is needed: then the tokens are already stored. Throws
 * NEEDS_SECRET, AUTH_REQUIRED, SERVER_UNAVAILABLE, CONFIG_INVALID, PROTOCOL_ERROR, FILE_NOT_WRITABLE, and CANCELLED if `signal` is aborted.
 */
export async function beginSignIn(
  server: NetworkServer,
  credentials: CredentialStore,
  { env, ...options }: SurroundedBy & { redirectUrl: URL },
): Promise<SignIn | undefined> {
  return named(server, options.signal, async () => {
    await credentials.ready();
    await credentials.requireKey();
    const { authorize } = await import("./authorize.ts");
    const read = await withOwnValues(server, env);
    const endpoint = await endpointOfSignIn(read, env, options.signal);
    const begun = await authorize({ server: read, endpoint, store: credentials, ...options });
    if (!begun) return undefined;
    const { authorizationUrl, finish } = begun;
    return { authorizationUrl, finish: (redirect) => named(server, options.signal, () => finish(redirect)) };
  });
}

/**
 * Like `beginSignIn`, by a code that the person enters on any machine. "not offered" if the authorization server does not know device codes.
 * Throws what `beginSignIn` throws.
 */
export async function beginDeviceSignIn(
  server: NetworkServer,
  credentials: CredentialStore,
  { env, signal }: SurroundedBy,
): Promise<DeviceSignIn | "not offered" | undefined> {
  return named(server, signal, async () => {
    await credentials.ready();
    await credentials.requireKey();
    const { authorizeDevice } = await import("./device.ts");
    const read = await withOwnValues(server, env);
    const endpoint = await endpointOfSignIn(read, env, signal);
    const begun = await authorizeDevice({ server: read, endpoint, store: credentials, signal });
    if (typeof begun !== "object") return begun;
    return { ...begun, finish: () => named(server, signal, begun.finish) };
  });
}

/** The error for a person who has asked for a device code where there is none. */
export function noDeviceCodes(server: string): ClaudikinsError {
  const message = `Cannot sign in to server "${server}": its authorization server offers no device codes`;
  const hint = `Sign in on any machine with a browser, and paste the address that it shows at the end: ${loginCommand(server)} --no-browser`;
  return new ClaudikinsError("CONFIG_INVALID", message, { hint });
}

/**
 * Revokes the tokens if the authorization server supports that, and removes them in any case. False if there was nothing to
 * remove. Throws FILE_NOT_WRITABLE.
 */
export async function signOut(
  server: NetworkServer,
  credentials: CredentialStore,
  { env, signal }: SurroundedBy,
): Promise<boolean> {
  return named(server, signal, () =>
    credentials.alone(server, async () => {
      await credentials.ready();
      const record = credentials.read(server);
      if (!record) return false;
      await credentials.update(server, () => undefined);
      if (!record.tokens) return false;
      const { takeBack } = await import("./authorize.ts");
      // The tokens are removed here; that they stay valid for a while is not a failure.
      await withOwnValues(server, env)
        .then((read) => takeBack(read, record, signal))
        .catch(() => {});
      return true;
    }),
  );
}

/** Reads only the file, without the network. */
export function signInStatus(server: NetworkServer, credentials: CredentialStore): SignInStatus {
  const { tokens, issuer = "" } = credentials.read(server) ?? {};
  if (!tokens) return { state: "signed out" };
  const { since, expiresAt, scopes, refresh } = tokens;
  const renewable = refresh !== undefined || needsNobody(server);
  if (expiresAt !== undefined && !renewable && isExpired(tokens)) return { state: "expired", since, expiresAt };
  return { state: "signed in", since, ...(expiresAt === undefined ? {} : { expiresAt }), renewable, scopes, issuer };
}

/** The redirect URL that was registered last, so that the same port is tried first. */
export function lastRedirect(server: NetworkServer, credentials: CredentialStore): URL | undefined {
  return URL.parse(credentials.read(server)?.redirectUrl ?? "") ?? undefined;
}

/** Adds the server's name to every failure, and removes texts of others. */
async function named<T>(server: NetworkServer, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (signal.aborted) throw new ClaudikinsError("CANCELLED", `The sign-in to ${server.name} was cancelled`);
    if (!(error instanceof NetworkFailure)) throw error;
    const { code, message, hint } = error;
    throw new ClaudikinsError(code, `Cannot sign in to server "${server.name}": ${message}`, { hint });
  }
}
