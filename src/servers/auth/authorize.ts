/** The steps of a sign-in: read the server's challenge, find its authorization server, make the URL, and take the code. */
import { randomBytes } from "node:crypto";
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  LATEST_PROTOCOL_VERSION,
  PROTOCOL_VERSION_META_KEY,
  startAuthorization,
} from "@modelcontextprotocol/client";
import { durationText } from "../../base/duration.ts";
import { isSafe } from "../../base/loopback.ts";
import { version } from "../../base/version.ts";
import { httpForm } from "../../config/address.ts";
import type { NetworkServer } from "../../config/load.ts";
import { NetworkFailure, noAnswer, refusal } from "../failures/network-failure.ts";
import { type Endpoint, endpointOf } from "../network/endpoint.ts";
import { pageAddress } from "../network/page-address.ts";
import { type Challenge, challengeOf } from "./challenge.ts";
import { checkIssuer, clientFor, knownClient, type OAuthClient } from "./client.ts";
import { type CredentialStore, needsNobody, type SignInRecord, type Tokens } from "./credentials.ts";
import { discoveredIn } from "./described.ts";
import { type Discovered, discover, isSameIssuer } from "./discovery.ts";
import { privateFetch } from "./private-fetch.ts";
import { checkReach } from "./reach.ts";
import { chosenScopes, renew, union } from "./renewal.ts";
import { type Code, isStranger, type OAuthContext, oauthContextOf, recordOf, revoke, tokensForCode } from "./tokens.ts";
import { AuthorizationRefused, cancelled, notOAuth, shortLine, signInHint, unavailable } from "./words.ts";

/** Time for a server to answer a request without credentials, which asks what sign-in it wants. */
const authProbeMs = 10_000;

export interface SignInRequest {
  server: NetworkServer;
  endpoint: Endpoint;
  store: CredentialStore;
  signal: AbortSignal;
}

export interface Authorization extends SignInRequest {
  redirectUrl: URL;
}

/** What every sign-in begins with. Undefined if the client needs no person. Throws NetworkFailure. */
export async function prepared(asked: SignInRequest) {
  const { server, endpoint, store, signal } = asked;
  const url = httpForm(endpoint.url);
  const { described } = endpoint;
  // An API does not say what it wants: its document does.
  const probed = described ? { status: 401, challenge: undefined } : await probe(asked, url);
  if (needsNobody(server)) {
    const refused = store.read(server)?.tokens?.access;
    await renew({
      server,
      url,
      store,
      challenge: probed.challenge,
      refused,
      headers: endpoint.headers,
      described,
      signal,
    });
    return undefined;
  }
  const fetch = privateFetch(url, signal, endpoint.headers);
  const found = described ? await discoveredIn(described, fetch) : await discover(url, probed.challenge, fetch);
  const isAsked = probed.status === 401 || probed.challenge !== undefined;
  if (!found.metadata && !found.resource && !isAsked) throw asksForNothing(probed.status);
  const record = store.read(server);
  checkIssuer(server, record, found);
  return { url, found, record, scopes: scopesFor(server, probed.challenge, found, record), fetch };
}

/** Undefined if the client needs no person. Throws NetworkFailure. */
export async function authorize(asked: Authorization) {
  const { server, store, redirectUrl } = asked;
  const preparation = await prepared(asked);
  if (!preparation) return undefined;
  const { url, found, record, scopes, fetch } = preparation;
  const client = await clientFor(server, record, found, { redirectUrl, scopes, fetch });
  await remember(asked, found, client, redirectUrl);
  const state = randomBytes(32).toString("base64url");
  const { authorizationUrl, codeVerifier } = await begun(url, found, {
    clientInformation: client.information,
    redirectUrl: redirectUrl.href,
    state,
    ...(scopes.length === 0 ? {} : { scope: scopes.join(" ") }),
  });
  const context = { ...found, client, fetch };
  let isFinished = false;
  const finish = async (redirect: URL) => {
    if (isFinished) throw failed("this sign-in is already done", asked);
    const answer = await answerIn(redirect, { asked, state, found });
    isFinished = true;
    await store.alone(server, () =>
      exchanged(asked, context, scopes, { ...answer, codeVerifier, redirectUri: redirectUrl.href }),
    );
  };
  return { authorizationUrl, finish };
}

function asksForNothing(status: number): NetworkFailure {
  if (status >= 400) return refusal(status, { hasToken: false });
  return new NetworkFailure("it requires no sign-in", {
    code: "CONFIG_INVALID",
    hint: "Call its tools directly.",
  });
}

/** The scopes of the config, or else in the order of the specification; plus scopes that the server has asked for since. */
function scopesFor(server: NetworkServer, challenge: Challenge | undefined, found: Discovered, record?: SignInRecord) {
  const usual = chosenScopes(server) ?? challenge?.scopes ?? found.scopes ?? [];
  const more = record?.wantedScopes
    ? [...record.wantedScopes, ...(record.tokens?.asked ?? record.tokens?.scopes ?? [])]
    : [];
  const scopes = union(usual, more);
  // Some authorization servers give no refresh token without this scope.
  const isOffered = found.metadata?.scopes_supported?.includes("offline_access") === true;
  return isOffered && scopes.length > 0 ? union(scopes, ["offline_access"]) : scopes;
}

/** A new client is stored at once, so that it registers only once, even if the user does not come back. */
export async function remember(
  { server, store }: SignInRequest,
  found: Discovered,
  client: OAuthClient,
  redirectUrl: URL | undefined,
) {
  if (client.stored.origin !== "registered" || store.read(server)?.tokens) return;
  await store.update(server, (now) => ({
    ...now,
    server: server.name,
    issuer: found.issuer,
    client: client.stored,
    redirectUrl: redirectUrl?.href,
  }));
}

type Begin = Parameters<typeof startAuthorization>[1];

async function begun(server: URL, { issuer, metadata, resource }: Discovered, options: Begin) {
  const started = await startAuthorization(issuer, {
    ...options,
    ...(metadata ? { metadata } : {}),
    ...(resource === undefined ? {} : { resource }),
  }).catch(() => {
    throw notOAuth("its authorization server does not support authorization codes with PKCE (S256)");
  });
  const page = started.authorizationUrl;
  await checkPage(page, server);
  for (const [name, value] of Object.entries(parametersFor(issuer))) page.searchParams.set(name, value);
  return started;
}

/** Throws NetworkFailure for a page that a person should not be sent to. */
export async function checkPage(page: URL, server: URL): Promise<void> {
  if (!isSafe(page)) {
    throw notOAuth("the sign-in page of its authorization server does not use https://");
  }
  const { problem } = pageAddress(page.href);
  if (problem !== undefined) throw notOAuth(`its sign-in page cannot be opened safely: ${problem}`);
  await checkReach(page, server);
}

/** Google has no scope for refresh tokens, and gives one only for these parameters (developers.google.com/identity/protocols/oauth2). */
export function parametersFor(issuer: string): Record<string, string> {
  const isGoogle = URL.parse(issuer)?.hostname === "accounts.google.com";
  return isGoogle ? { access_type: "offline", prompt: "consent" } : {};
}

/** The code in the redirect URL, and the issuer if it is named. The issuer is checked before the rest. */
async function answerIn(
  redirect: URL,
  { asked, state, found }: { asked: Authorization; state: string; found: Discovered },
): Promise<Pick<Code, "authorizationCode" | "iss">> {
  const { server, store } = asked;
  const get = (name: string) => redirect.searchParams.get(name);
  const iss = get("iss");
  if (get("state") !== state) throw failed("the response belongs to another sign-in", asked);
  if (!found.hasUnknownIssuer && !isFromIssuer(iss, found)) {
    throw failed("the response came from a different authorization server", asked);
  }
  const error = get("error");
  if (error !== null) {
    // The next sign-in is tried without the scopes that the server has asked for.
    if (error === "invalid_scope") {
      await store.update(server, (record) => record && { ...record, wantedScopes: undefined });
    }
    const words = [error, get("error_description")].filter(Boolean).join(": ");
    throw failed(`its authorization server refused the sign-in: ${shortLine(words)}`, asked);
  }
  const authorizationCode = get("code");
  if (!authorizationCode) throw failed("the redirect address contains no code", asked);
  return { authorizationCode, ...(iss === null || found.hasUnknownIssuer ? {} : { iss }) };
}

/** RFC 9207 requires simple string comparison. Without metadata, the spelling is unknown. */
function isFromIssuer(named: string | null, { metadata, issuer }: Discovered): boolean {
  if (named === null) return metadata?.authorization_response_iss_parameter_supported !== true;
  return metadata ? named === metadata.issuer : isSameIssuer(named, issuer);
}

async function exchanged(asked: Authorization, context: OAuthContext, scopes: string[], code: Code): Promise<void> {
  try {
    await signedIn(asked, context, await tokensForCode(context, code, scopes), asked.redirectUrl);
  } catch (error) {
    throw await refusedTokens(error, asked);
  }
}

/** Stores the tokens of a sign-in. */
export async function signedIn(
  { server, store }: SignInRequest,
  context: OAuthContext,
  tokens: Tokens,
  redirectUrl: URL | undefined,
): Promise<void> {
  await store.update(server, (now) => ({
    ...recordOf(server.name, context, tokens),
    redirectUrl: redirectUrl?.href,
    wantedScopes: now?.wantedScopes,
  }));
}

/** The error of a sign-in whose authorization server gives no tokens. The next sign-in registers a new client if this one is unknown. */
export async function refusedTokens(error: unknown, asked: SignInRequest): Promise<unknown> {
  if (!(error instanceof AuthorizationRefused)) return error;
  const { server, store } = asked;
  if (isStranger(error)) await store.update(server, (now) => now && { ...now, client: undefined });
  return failed(`its authorization server issued no token: ${error.message}`, asked);
}

/** Revokes tokens that are not needed any more. */
export async function takeBack(server: NetworkServer, record: SignInRecord, signal: AbortSignal): Promise<void> {
  const client = knownClient(server, record);
  const { url, headers } = endpointOf(server);
  const context = client && oauthContextOf(record, client, privateFetch(httpForm(url), signal, headers));
  if (context && record.tokens) await revoke(context, record.tokens);
}

export function failed(message: string, { server, store }: Pick<SignInRequest, "server" | "store">): NetworkFailure {
  const hint = `Start again: ${signInHint(server.name, store.owner)}`;
  return new NetworkFailure(message, { code: "AUTH_REQUIRED", hint });
}

interface ProbeOptions {
  server: NetworkServer;
  endpoint: Endpoint;
  signal: AbortSignal;
}

interface ProbeAnswer {
  status: number;
  challenge: Challenge | undefined;
  /** The session that the request has started. */
  session: string | undefined;
}

/**
 * Asks a server without credentials, to read its challenge: which sign-in it wants. The server's response to an unauthorized request. Some
 * servers answer `initialize` without a sign-in, so they are asked for their tools as well. Throws NetworkFailure.
 */
export async function probe(asked: ProbeOptions, url: URL): Promise<Pick<ProbeAnswer, "status" | "challenge">> {
  const { transport } = asked.server;
  if (transport !== "auto" && transport !== "http") return send(asked, url);
  const first = await send(asked, url, message("initialize", { ...handshake, clientInfo, capabilities: {} }));
  if (isChallenge(first)) return first;
  const second = await send(asked, url, first.session === undefined ? modernList : listIn(first.session));
  return isChallenge(second) ? second : first;
}

const isChallenge = ({ status, challenge }: ProbeAnswer) => status === 401 || challenge !== undefined;

const clientInfo = { name: "claudikins", version };
const handshake = { protocolVersion: LATEST_PROTOCOL_VERSION };
const modernVersion = "2026-07-28";

interface Message {
  body?: string;
  headers?: Record<string, string>;
}

function message(method: string, params: object, headers: Record<string, string> = {}): Message {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 0, method, params });
  return { body, headers: { "content-type": "application/json", ...headers } };
}

function listIn(session: string): Message {
  const headers = { "mcp-session-id": session, "mcp-protocol-version": LATEST_PROTOCOL_VERSION };
  return message("tools/list", {}, headers);
}

const modernList = message(
  "tools/list",
  {
    _meta: {
      [PROTOCOL_VERSION_META_KEY]: modernVersion,
      [CLIENT_INFO_META_KEY]: clientInfo,
      [CLIENT_CAPABILITIES_META_KEY]: {},
    },
  },
  { "mcp-method": "tools/list", "mcp-protocol-version": modernVersion },
);

async function send(
  { endpoint, signal }: ProbeOptions,
  url: URL,
  { body, headers: own = {} }: Message = {},
): Promise<ProbeAnswer> {
  const limit = AbortSignal.timeout(authProbeMs);
  const headers = new Headers({ ...endpoint.headers, accept: "application/json, text/event-stream", ...own });
  try {
    const response = await fetch(url, {
      ...(body === undefined ? {} : { method: "POST", body }),
      headers,
      redirect: "manual",
      signal: AbortSignal.any([limit, signal]),
    });
    await response.body?.cancel();
    const session = response.headers.get("mcp-session-id") ?? undefined;
    return { status: response.status, challenge: challengeOf(response.headers), session };
  } catch (error) {
    if (signal.aborted) throw cancelled();
    if (limit.aborted) throw unavailable(`it did not answer within ${durationText(authProbeMs)}`);
    throw noAnswer(error, url);
  }
}
