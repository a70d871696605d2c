/** Which authorization server a server belongs to, and how that one is asked (RFC 9728, RFC 8414, OpenID Connect). */
import {
  discoverAuthorizationServerMetadata,
  discoverOAuthProtectedResourceMetadata,
} from "@modelcontextprotocol/sdk/client/auth.js";
import type {
  AuthorizationServerMetadata,
  OAuthProtectedResourceMetadata,
} from "@modelcontextprotocol/sdk/shared/auth.js";
import { checkResourceAllowed } from "@modelcontextprotocol/sdk/shared/auth-utils.js";
import type { FetchLike } from "@modelcontextprotocol/sdk/shared/transport.js";
import { ClaudikinsError } from "../../errors.ts";
import { NetworkFailure } from "../network-failure.ts";
import type { Challenge } from "./challenge.ts";
import { notOAuth, unavailable } from "./words.ts";

/** With what the SDK's schemas leave out. */
export type Metadata = AuthorizationServerMetadata & {
  revocation_endpoint?: string | undefined;
  authorization_response_iss_parameter_supported?: boolean | undefined;
};

export interface Discovered {
  /** The authorization server's address, which everything that it gives belongs to. */
  issuer: string;
  /** Undefined for servers of the protocol's first revision: their endpoints have fixed paths. */
  metadata?: Metadata | undefined;
  /** What tokens are asked for, as the server calls itself. */
  resource?: string | undefined;
  /** What the server offers. */
  scopes?: string[] | undefined;
}

/** Throws NetworkFailure with SERVER_UNAVAILABLE or PROTOCOL_ERROR. */
export async function discover(server: URL, challenge: Challenge | undefined, fetch: FetchLike): Promise<Discovered> {
  const described = await resourceMetadata(server, challenge, fetch);
  if (described && !checkResourceAllowed({ requestedResource: server, configuredResource: described.resource })) {
    throw notOAuth("its sign-in metadata is for another server");
  }
  const issuer = described?.authorization_servers?.[0] ?? new URL("/", server).href;
  const metadata = await authorizationServer(issuer, fetch);
  return { issuer, metadata, resource: described?.resource, scopes: described?.scopes_supported };
}

/** Where the header says, else at the well-known places; undefined where there is none. */
async function resourceMetadata(server: URL, challenge: Challenge | undefined, fetch: FetchLike) {
  const named = challenge?.resourceMetadata;
  const address = named !== undefined && URL.canParse(named, server.href) ? new URL(named, server.href) : undefined;
  return (
    (address && (await oneResourceMetadata(server, address, fetch))) ?? oneResourceMetadata(server, undefined, fetch)
  );
}

async function oneResourceMetadata(
  server: URL,
  resourceMetadataUrl: URL | undefined,
  fetch: FetchLike,
): Promise<OAuthProtectedResourceMetadata | undefined> {
  const { seen, fetchFn } = watching(fetch);
  try {
    return await discoverOAuthProtectedResourceMetadata(
      server,
      resourceMetadataUrl ? { resourceMetadataUrl } : {},
      fetchFn,
    );
  } catch (error) {
    if (error instanceof NetworkFailure || error instanceof ClaudikinsError) throw error;
    if (seen.status >= 500) throw unavailable(`its sign-in metadata request failed (${seen.status})`);
    // Nothing, or a page for people.
    return undefined;
  }
}

async function authorizationServer(issuer: string, fetch: FetchLike): Promise<Metadata | undefined> {
  const { seen, fetchFn } = watching(fetch);
  try {
    const metadata = await discoverAuthorizationServerMetadata(issuer, { fetchFn });
    if (!metadata) return undefined;
    if (!isSameIssuer(metadata.issuer, issuer) && !isKin(metadata.issuer, issuer)) throw anotherIssuer(issuer);
    return { ...metadata, ...moreOf(seen.text) };
  } catch (error) {
    if (error instanceof NetworkFailure || error instanceof ClaudikinsError) throw error;
    if (seen.status >= 500) throw unavailable(`its authorization server failed (${seen.status})`);
    throw notOAuth(`its authorization server at ${new URL(issuer).origin} returned invalid OAuth metadata`);
  }
}

function moreOf(text: string): Partial<Metadata> {
  const { revocation_endpoint, authorization_response_iss_parameter_supported } = JSON.parse(text);
  return {
    ...(typeof revocation_endpoint === "string" ? { revocation_endpoint } : {}),
    authorization_response_iss_parameter_supported: authorization_response_iss_parameter_supported === true,
  };
}

/** The SDK says in words what went wrong, where the status says it better, and leaves out some of what was answered. */
function watching(fetch: FetchLike) {
  const seen = { status: 0, text: "" };
  const fetchFn: FetchLike = async (url, init) => {
    const response = await fetch(url, init);
    seen.status = response.status;
    seen.text = await response.clone().text();
    return response;
  };
  return { seen, fetchFn };
}

/** One that names another as itself could have the person sign in there, and take the code (RFC 8414, section 3.3). */
function anotherIssuer(issuer: string): NetworkFailure {
  return notOAuth(`its authorization server at ${new URL(issuer).origin} names a different issuer`);
}

/** Well-known services have a host for themselves and name one above or below it: nobody else can have either. */
function isKin(one: string, other: string): boolean {
  if (!URL.canParse(one) || !URL.canParse(other)) return false;
  const [a, b] = [new URL(one), new URL(other)];
  const isBelow = (host: string, above: string) =>
    host === above || (host.endsWith(`.${above}`) && above.includes("."));
  return a.protocol === b.protocol && (isBelow(a.host, b.host) || isBelow(b.host, a.host));
}

/** Two spellings of one address. */
export function isSameIssuer(one: string, other: string): boolean {
  const plain = (text: string) => (URL.canParse(text) ? new URL(text).href : text).replace(/\/$/, "");
  return plain(one) === plain(other);
}
