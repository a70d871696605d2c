/** Gets tokens from an authorization server, for a code, a refresh token or client credentials, and revokes them. */
import {
  exchangeAuthorization,
  fetchToken,
  type OAuthClientProvider,
  refreshAuthorization,
  selectClientAuthMethod,
} from "@modelcontextprotocol/sdk/client/auth.js";
import type { AuthorizationServerMetadata, OAuthTokens } from "@modelcontextprotocol/sdk/shared/auth.js";
import type { FetchLike } from "@modelcontextprotocol/sdk/shared/transport.js";
import { ClaudikinsError } from "../../errors.ts";
import { NetworkFailure } from "../network-failure.ts";
import type { Client } from "./client.ts";
import type { SignInRecord, StoredMetadata, Tokens } from "./credentials.ts";
import type { Metadata } from "./discovery.ts";
import { notOAuth, Refused, unavailable } from "./words.ts";

/** The authorization server, and the client that asks it. */
export interface Desk {
  issuer: string;
  metadata?: Metadata | StoredMetadata | undefined;
  resource?: string | undefined;
  client: Client;
  fetch: FetchLike;
}

/** The redirect's parameters, and those of the request. */
export interface Code {
  authorizationCode: string;
  codeVerifier: string;
  redirectUri: string;
}

/** Throws Refused, and NetworkFailure with SERVER_UNAVAILABLE or PROTOCOL_ERROR, like the other functions here. */
export function tokensForCode(desk: Desk, code: Code, scopes: string[]): Promise<Tokens> {
  return asked(scopes, () => exchangeAuthorization(desk.issuer, { ...asSdk(desk), ...code }));
}

export async function refreshed(desk: Desk, before: Tokens): Promise<Tokens> {
  const refreshToken = before.refresh ?? "";
  const tokens = await asked(before.scopes, () => refreshAuthorization(desk.issuer, { ...asSdk(desk), refreshToken }));
  return { ...tokens, since: before.since };
}

export function tokensForClient(desk: Desk, scopes: string[]): Promise<Tokens> {
  const { client } = desk;
  // The part of a provider that the SDK uses here.
  const provider = {
    clientInformation: () => client.information,
    clientMetadata: { redirect_uris: [], ...(scopes.length === 0 ? {} : { scope: scopes.join(" ") }) },
    prepareTokenRequest: (scope?: string) =>
      new URLSearchParams({ grant_type: "client_credentials", ...(scope === undefined ? {} : { scope }) }),
    ...(client.authentication ? { addClientAuthentication: client.authentication } : {}),
  } as unknown as OAuthClientProvider;
  const { metadata, resource, fetchFn } = asSdk(desk);
  const more = { ...(metadata ? { metadata } : {}), ...(resource ? { resource } : {}), fetchFn };
  return asked(scopes, () => fetchToken(provider, desk.issuer, more));
}

/** Whether the tokens were revoked. Authorization servers need not support it. */
export async function revoke({ metadata, client, fetch }: Desk, { refresh, access }: Tokens): Promise<void> {
  const endpoint = metadata?.revocation_endpoint;
  if (endpoint === undefined) return;
  const body = new URLSearchParams({
    token: refresh ?? access,
    token_type_hint: refresh === undefined ? "access_token" : "refresh_token",
  });
  const headers = new Headers({ "content-type": "application/x-www-form-urlencoded" });
  const { client_id, client_secret = "" } = client.information;
  const method = selectClientAuthMethod(client.information, metadata?.token_endpoint_auth_methods_supported ?? []);
  if (client.authentication) {
    await client.authentication(headers, body, new URL(endpoint), metadata as AuthorizationServerMetadata);
  } else if (method === "client_secret_basic") {
    headers.set("authorization", `Basic ${btoa(`${client_id}:${client_secret}`)}`);
  } else {
    body.set("client_id", client_id);
    if (method === "client_secret_post") body.set("client_secret", client_secret);
  }
  await fetch(endpoint, { method: "POST", headers, body });
}

/** Options for the SDK. The resource is passed unchanged, because some servers compare it as a string. */
function asSdk({ metadata, client, resource, fetch }: Desk) {
  return {
    ...(metadata ? { metadata: metadata as AuthorizationServerMetadata } : {}),
    clientInformation: client.information,
    ...(client.authentication ? { addClientAuthentication: client.authentication } : {}),
    ...(resource === undefined ? {} : { resource: resource as unknown as URL }),
    fetchFn: fetch,
  };
}

/** `scopes` apply if the response names none: RFC 6749, section 5.1. */
async function asked(scopes: string[], ask: () => Promise<OAuthTokens>): Promise<Tokens> {
  const obtainedAt = Date.now();
  let tokens: OAuthTokens;
  try {
    tokens = await ask();
  } catch (error) {
    if (error instanceof Refused && (error.status >= 500 || error.status === 429)) {
      throw unavailable(`its authorization server failed (${error.status})`);
    }
    if (error instanceof NetworkFailure || error instanceof Refused || error instanceof ClaudikinsError) throw error;
    throw notOAuth("its authorization server returned no valid token");
  }
  const { access_token: access, refresh_token: refresh, scope, expires_in: seconds = 0 } = tokens;
  if (!/^[\x21-\x7e]+$/.test(access)) throw notOAuth("its authorization server returned a malformed token");
  return {
    access,
    ...(refresh ? { refresh } : {}),
    scopes: scope?.split(/\s+/).filter(Boolean) ?? scopes,
    since: obtainedAt,
    obtainedAt,
    // A lifetime that has already ended counts as unknown.
    ...(seconds > 0 && Number.isFinite(seconds) ? { expiresAt: obtainedAt + seconds * 1_000 } : {}),
  };
}

/** The part of the metadata that is stored. */
export function storedMetadata(metadata: Metadata | undefined): StoredMetadata | undefined {
  if (!metadata) return undefined;
  const { issuer, authorization_endpoint, token_endpoint, response_types_supported } = metadata;
  return {
    issuer,
    authorization_endpoint,
    token_endpoint,
    response_types_supported,
    token_endpoint_auth_methods_supported: metadata.token_endpoint_auth_methods_supported,
    revocation_endpoint: metadata.revocation_endpoint,
  };
}

/** Whether the sign-in has ended and cannot be renewed. GitHub has its own error code for this. */
export function isEnded(error: unknown): boolean {
  return error instanceof Refused && ["invalid_grant", "bad_refresh_token"].includes(error.error ?? "");
}

/** Whether the authorization server does not know the client any more. */
export function isStranger(error: unknown): boolean {
  return error instanceof Refused && ["invalid_client", "unauthorized_client"].includes(error.error ?? "");
}

/** The authorization server that renews the tokens of a record. Undefined if the record does not say. */
export function deskOf(record: SignInRecord, client: Client, fetch: FetchLike): Desk | undefined {
  const { issuer, metadata, resource } = record;
  return issuer === undefined ? undefined : { issuer, metadata, resource, client, fetch };
}
