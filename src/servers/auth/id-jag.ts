/**
 * Enterprise-managed authorization (`io.modelcontextprotocol/enterprise-managed-authorization`): the company's provider decides which person
 * may use which server. It gives an assertion about the person (ID-JAG), for which the server's authorization server gives a token.
 *
 * The SDK's `CrossAppAccessProvider` keeps tokens in memory for one connection, and its `requestJwtAuthorizationGrant` knows only ID tokens
 * and secrets in the body. So `exchange.ts` makes the exchange, and the SDK sends the assertion, as it sends every grant.
 */
import type { FetchLike } from "@modelcontextprotocol/client";
import type { NetworkServer } from "../../config/load.ts";
import { NetworkFailure } from "../failures/network-failure.ts";
import { defaultTokenMs } from "../limits.ts";
import type { Challenge } from "./challenge.ts";
import { knownClient, type OAuthClient, oauthOf } from "./client.ts";
import { exchangeMark, type SignInRecord } from "./credentials.ts";
import { type Discovered, discover, isSameIssuer } from "./discovery.ts";
import { askProvider, type Exchange } from "./exchange.ts";
import { recordOf, tokensForAssertion } from "./tokens.ts";
import { AuthorizationRefused, notOAuth, shortLine } from "./words.ts";

interface Assertion extends Exchange {
  /** The server's URL, with the scheme of HTTP. */
  url: URL;
  challenge: Challenge | undefined;
  /** Scopes that the server has asked for. */
  wantedScopes: string[] | undefined;
  /** Sends requests to the server and its authorization server. */
  fetch: FetchLike;
}

/** Throws NetworkFailure: AUTH_REQUIRED if the provider or the authorization server refuses, SERVER_UNAVAILABLE and PROTOCOL_ERROR. */
export async function fromAssertion(asked: Assertion): Promise<SignInRecord> {
  const { server, exchange, url, challenge, wantedScopes = [], fetch } = asked;
  const found = await discover(url, challenge, fetch, exchange.audience);
  const { issuer, resource } = requireNamed(found, exchange.audience);
  const usual = exchange.scopes ?? challenge?.scopes ?? found.scopes ?? [];
  const scopes = [...new Set([...usual, ...wantedScopes])];
  const { token, scopes: granted } = await askProvider(asked, { type: "id-jag", audience: issuer, resource, scopes });
  const context = { ...found, client: clientOf(server), fetch };
  const tokens = await tokensForAssertion(context, token, granted).catch((error: unknown) => {
    if (!(error instanceof AuthorizationRefused)) throw error;
    throw refusedBy(issuer, error, asked);
  });
  // Only the provider decides whether the person gets another token, so refresh tokens are not kept.
  const { refresh: _, expiresAt = tokens.obtainedAt + defaultTokenMs, ...kept } = tokens;
  const record = recordOf(server.name, context, { ...kept, expiresAt });
  return { ...record, exchanged: exchangeMark(server) };
}

/** The issuer and the resource, as an assertion must name them. Throws NetworkFailure with PROTOCOL_ERROR. */
function requireNamed({ issuer: named, metadata, resource }: Discovered, expected: string | undefined) {
  if (resource === undefined) throw notOAuth("it has no metadata that name it and its authorization server (RFC 9728)");
  // Authorization servers compare their issuer exactly.
  const issuer = metadata?.issuer ?? named;
  if (expected === undefined || isSameIssuer(issuer, expected)) return { issuer, resource };
  throw new NetworkFailure(
    `its authorization server is ${shortLine(issuer)}, and not the "audience" of its "exchange"`,
    {
      code: "PROTOCOL_ERROR",
      hint: 'If its operator has changed it, correct "audience" in its config entry.',
    },
  );
}

/** The client at the server's authorization server. The config has one. */
function clientOf(server: NetworkServer): OAuthClient {
  const known = knownClient(server, undefined);
  if (known) return known;
  const document = oauthOf(server)?.clientMetadataUrl ?? "";
  return { stored: { origin: "document", client_id: document }, information: { client_id: document } };
}

function refusedBy(issuer: string, { message }: AuthorizationRefused, { store }: Assertion): NetworkFailure {
  const who = store.owner?.name ?? "the person";
  return new NetworkFailure(`its authorization server refused what the provider says of ${who}: ${message}`, {
    code: "AUTH_REQUIRED",
    hint: `Ask the operator of ${new URL(issuer).origin} to accept assertions of the provider, or correct "oauth" in its config entry.`,
    needsSignIn: true,
  });
}
