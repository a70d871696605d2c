/** Gets tokens from an authorization server, for a code, a refresh token, client credentials or an assertion, and revokes them. */
import {
  type AddClientAuthentication,
  exchangeAuthorization,
  type FetchLike,
  fetchToken,
  InsecureTokenEndpointError,
  type OAuthClientProvider,
  type OAuthTokens,
  selectClientAuthMethod,
} from "@modelcontextprotocol/client";
import { basicAuthorization } from "../../base/basic-authorization.ts";
import { isObject, parsedJson } from "../../base/json-object.ts";
import { deviceGrant, type OAuthClient } from "./client.ts";
import { type SignInRecord, type StoredMetadata, storedMetadataKeys, type Tokens } from "./credentials.ts";
import { AuthorizationRefused, isOurs, notOAuth, withoutTls } from "./words.ts";

/** The authorization server, and the client that asks it. */
export interface OAuthContext {
  issuer: string;
  metadata: StoredMetadata | undefined;
  resource: string | undefined;
  client: OAuthClient;
  fetch: FetchLike;
}

/** The authorization server that has issued the tokens of a record. Undefined if the record does not say. */
export function oauthContextOf(record: SignInRecord, client: OAuthClient, fetch: FetchLike): OAuthContext | undefined {
  const { issuer, metadata, resource } = record;
  return issuer === undefined ? undefined : { issuer, metadata, resource, client, fetch };
}

/** The record of a sign-in that has succeeded. */
export function recordOf(server: string, context: OAuthContext, tokens: Tokens): SignInRecord {
  const { issuer, metadata, resource, client } = context;
  const kept = metadata && Object.fromEntries(storedMetadataKeys.map((key) => [key, metadata[key]]));
  return { server, issuer, metadata: kept as StoredMetadata | undefined, resource, client: client.stored, tokens };
}

/** The parameters of the redirect and of the request. */
export interface Code {
  authorizationCode: string;
  codeVerifier: string;
  redirectUri: string;
  /** The issuer in the redirect. The SDK requires it from servers that promise it. */
  iss?: string;
}

/** Throws AuthorizationRefused, and NetworkFailure with SERVER_UNAVAILABLE or PROTOCOL_ERROR, like the other functions here. */
export async function tokensForCode(context: OAuthContext, code: Code, scopes: string[]): Promise<Tokens> {
  const tokens = await answered(scopes, () => exchangeAuthorization(context.issuer, { ...asSdk(context), ...code }));
  return { ...tokens, asked: scopes };
}

/** Asks for the scopes of the sign-in. An authorization server that granted less may refuse that, and is asked without scopes from then on. */
export async function refreshed(context: OAuthContext, before: Tokens): Promise<Tokens> {
  const { refresh = "", scopes: granted, since, asked = [] } = before;
  const ask = (scopes: string[]) =>
    tokensForGrant(context, { grant_type: "refresh_token", refresh_token: refresh }, scopes, granted);
  try {
    return { refresh, ...(await ask(asked)), since, asked };
  } catch (error) {
    const isTooMuch = error instanceof AuthorizationRefused && error.error === "invalid_scope" && asked.length > 0;
    if (!isTooMuch) throw error;
    return { refresh, ...(await ask([])), since };
  }
}

/** The tokens of a person who has entered the code of the device (RFC 8628, section 3.4). Throws AuthorizationRefused until then. */
export async function tokensForDevice(context: OAuthContext, deviceCode: string, scopes: string[]): Promise<Tokens> {
  const tokens = await tokensForGrant(context, { grant_type: deviceGrant, device_code: deviceCode }, [], scopes);
  return { ...tokens, asked: scopes };
}

/** Asks for a code of a device (RFC 8628, section 3.1). Throws as the other functions do. */
export async function deviceAuthorization(context: OAuthContext, endpoint: string, scopes: string[]) {
  const { client, resource, metadata } = context;
  const body = new URLSearchParams({
    client_id: client.information.client_id,
    ...(scopes.length === 0 ? {} : { scope: scopes.join(" ") }),
    ...(resource === undefined ? {} : { resource }),
  });
  const headers = new Headers({ "content-type": "application/x-www-form-urlencoded", accept: "application/json" });
  await authenticationOf(client)(headers, body, endpoint, metadata);
  const answer = parsedJson(await (await sent(context, endpoint, { method: "POST", headers, body })).text());
  return isObject(answer) ? answer : {};
}

export function tokensForClient(context: OAuthContext, scopes: string[]): Promise<Tokens> {
  return tokensForGrant(context, { grant_type: "client_credentials" }, scopes);
}

/** The assertion says who a person is, and that its issuer allows this client to act for the person (RFC 7523, section 2.1). */
export function tokensForAssertion(context: OAuthContext, assertion: string, scopes: string[]): Promise<Tokens> {
  return tokensForGrant(context, { grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", assertion }, scopes);
}

/** `granted` are the scopes of an answer that names none. */
function tokensForGrant(
  context: OAuthContext,
  grant: Record<string, string>,
  scopes: string[],
  granted = scopes,
): Promise<Tokens> {
  const { clientInformation, addClientAuthentication, ...options } = asSdk(context);
  const scope = scopes.length === 0 ? {} : { scope: scopes.join(" ") };
  // The part of a provider that the SDK uses here.
  const provider = {
    clientInformation: () => clientInformation,
    clientMetadata: { redirect_uris: [] },
    prepareTokenRequest: () => new URLSearchParams({ ...grant, ...scope }),
    addClientAuthentication,
  } as unknown as OAuthClientProvider;
  return answered(granted, () => fetchToken(provider, context.issuer, options));
}

/** Authorization servers need not support this. */
export async function revoke({ metadata, client, fetch }: OAuthContext, { refresh, access }: Tokens): Promise<void> {
  const endpoint = metadata?.revocation_endpoint;
  if (endpoint === undefined) return;
  const body = new URLSearchParams({
    token: refresh ?? access,
    token_type_hint: refresh === undefined ? "access_token" : "refresh_token",
  });
  const headers = new Headers({ "content-type": "application/x-www-form-urlencoded" });
  await authenticationOf(client)(headers, body, endpoint, metadata);
  await fetch(endpoint, { method: "POST", headers, body });
}

/** Says in a request which client sends it. The SDK would send ids and secrets in a header without encoding them (RFC 6749, section 2.3.1). */
function authenticationOf({ authentication, information }: OAuthClient): AddClientAuthentication {
  return (
    authentication ??
    ((headers, body, _, metadata) => {
      const { client_id: id, client_secret: secret = "" } = information;
      const method = selectClientAuthMethod(information, metadata?.token_endpoint_auth_methods_supported ?? []);
      if (method === "client_secret_basic") return headers.set("authorization", basicAuthorization(id, secret));
      body.set("client_id", id);
      if (method === "client_secret_post") body.set("client_secret", secret);
    })
  );
}

/** The parts of an answer that are used, in the form that the SDK requires: authorization servers write some of them in other ways. */
async function plainTokens(response: Response): Promise<Response> {
  const answer = parsedJson(await response.clone().text());
  if (!response.ok || !isObject(answer)) return response;
  const { access_token, refresh_token, token_type, scope, expires_in } = answer;
  const seconds = Number.parseFloat(String(expires_in));
  return Response.json({
    access_token,
    ...(typeof refresh_token === "string" ? { refresh_token } : {}),
    token_type: typeof token_type === "string" ? token_type : "Bearer",
    ...(typeof scope === "string" || Array.isArray(scope) ? { scope: [scope].flat().join(" ") } : {}),
    ...(Number.isFinite(seconds) ? { expires_in: seconds } : {}),
  });
}

/** Sends a request for tokens. An authorization server that does not say how clients authenticate may want the secret in the form, as GitHub's does. */
async function sent(context: OAuthContext, url: string | URL, init: RequestInit = {}): Promise<Response> {
  try {
    return await context.fetch(url, init);
  } catch (error) {
    const { authentication, information } = context.client;
    const { client_id: id, client_secret: secret } = information;
    const headers = new Headers(init.headers);
    const isSaid =
      ("token_endpoint_auth_method" in information && information.token_endpoint_auth_method !== undefined) ||
      context.metadata?.token_endpoint_auth_methods_supported !== undefined;
    const isGuess = !authentication && !isSaid && secret !== undefined && headers.has("authorization");
    if (!isGuess || !isStranger(error)) throw error;
    headers.delete("authorization");
    const form = Object.fromEntries(new URLSearchParams(String(init.body)));
    const body = new URLSearchParams({ ...form, client_id: id, client_secret: secret });
    return await context.fetch(url, { ...init, headers, body });
  }
}

/** Options for the SDK. The resource is passed unchanged, because some servers compare it as a string. */
function asSdk(context: OAuthContext) {
  const { metadata, client, resource } = context;
  return {
    ...(metadata ? { metadata } : {}),
    clientInformation: client.information,
    addClientAuthentication: authenticationOf(client),
    ...(resource === undefined ? {} : { resource }),
    fetchFn: async (url: string | URL, init?: RequestInit) => plainTokens(await sent(context, url, init)),
  };
}

/** `scopes` apply if the response names none: RFC 6749, section 5.1. */
async function answered(scopes: string[], ask: () => Promise<OAuthTokens>): Promise<Tokens> {
  const obtainedAt = Date.now();
  const tokens = await ask().catch((error: unknown) => {
    if (isOurs(error) || error instanceof AuthorizationRefused) throw error;
    if (error instanceof InsecureTokenEndpointError) throw withoutTls(new URL(error.tokenEndpoint));
    throw notOAuth("its authorization server returned no valid token");
  });
  const { access_token: access, refresh_token: refresh, scope, expires_in: seconds = 0 } = tokens;
  if (!/^[\x21-\x7e]+$/.test(access)) throw notOAuth("its authorization server returned a malformed token");
  return {
    access,
    ...(refresh ? { refresh } : {}),
    // GitHub separates them with commas.
    scopes: scope?.split(/[\s,]+/).filter(Boolean) ?? scopes,
    since: obtainedAt,
    obtainedAt,
    // A lifetime that has already ended counts as unknown.
    ...(seconds > 0 ? { expiresAt: obtainedAt + seconds * 1_000 } : {}),
  };
}

/** Whether the sign-in has ended and cannot be renewed. GitHub has its own error code for this. */
export function isEnded(error: unknown): boolean {
  return error instanceof AuthorizationRefused && ["invalid_grant", "bad_refresh_token"].includes(error.error ?? "");
}

/** The last one is GitHub's. */
const strangerErrors: readonly unknown[] = ["invalid_client", "unauthorized_client", "incorrect_client_credentials"];

/** Whether the authorization server does not know the client any more. */
export function isStranger(error: unknown): boolean {
  return error instanceof AuthorizationRefused && strangerErrors.includes(error.error);
}
