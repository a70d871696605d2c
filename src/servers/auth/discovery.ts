/** Finds the authorization server of an MCP server, and its endpoints (RFC 9728, RFC 8414, OpenID Connect). */
import {
  checkResourceAllowed,
  discoverAuthorizationServerMetadata,
  discoverOAuthProtectedResourceMetadata,
  type FetchLike,
  type OAuthMetadata,
} from "@modelcontextprotocol/client";
import type { Challenge } from "./challenge.ts";
import { isOurs, notOAuth } from "./words.ts";

export type Metadata = OAuthMetadata & {
  authorization_response_iss_parameter_supported?: boolean;
  /** RFC 8628, section 4. */
  device_authorization_endpoint?: string;
};

export interface Discovered {
  /** The URL of the authorization server. Clients and tokens belong to one issuer. */
  issuer: string;
  /** Undefined for servers of MCP's first revision, whose endpoints have fixed paths. */
  metadata: Metadata | undefined;
  /** The resource for which tokens are requested, as the server names itself. */
  resource: string | undefined;
  /** The scopes that the server supports. */
  scopes: string[] | undefined;
  /** The issuer was made from an address, so that the name in a redirect cannot be compared with it. */
  hasUnknownIssuer?: boolean;
}

/** Of several authorization servers, `preferred` is chosen if it is one of them. Throws NetworkFailure with SERVER_UNAVAILABLE or PROTOCOL_ERROR. */
export async function discover(
  server: URL,
  challenge: Challenge | undefined,
  fetch: FetchLike,
  preferred?: string,
): Promise<Discovered> {
  const described = await resourceMetadata(server, challenge, fetch);
  if (described && !checkResourceAllowed({ requestedResource: server, configuredResource: described.resource })) {
    throw notOAuth("its sign-in metadata is for another server");
  }
  const named = described?.authorization_servers ?? [];
  const chosen = named.find((each) => preferred !== undefined && isSameIssuer(each, preferred)) ?? named[0];
  const issuer = chosen ?? new URL("/", server).href;
  const metadata = await authorizationServer(issuer, fetch);
  return { issuer, metadata, resource: described?.resource, scopes: described?.scopes_supported };
}

/** Looks at the URL in the challenge, then at the well-known places. Undefined if there is no metadata. */
async function resourceMetadata(server: URL, challenge: Challenge | undefined, fetch: FetchLike) {
  const named = challenge?.resourceMetadata;
  const resourceMetadataUrl = named === undefined ? null : URL.parse(named, server.href);
  const places = resourceMetadataUrl ? [{ resourceMetadataUrl }, {}] : [{}];
  for (const place of places) {
    try {
      return await discoverOAuthProtectedResourceMetadata(server, place, fetch);
    } catch (error) {
      // Otherwise there is nothing at this place, or a page for people.
      if (isOurs(error)) throw error;
    }
  }
  return undefined;
}

/** Undefined if there is no metadata. Throws NetworkFailure. */
export async function authorizationServer(issuer: string, fetch: FetchLike): Promise<Metadata | undefined> {
  let text = "";
  const fetchFn: FetchLike = async (url, init) => {
    const response = await fetch(url, init);
    text = await response.clone().text();
    return response;
  };
  const { origin } = new URL(issuer);
  try {
    const metadata = await discoverAuthorizationServerMetadata(issuer, { fetchFn, skipIssuerValidation: true });
    if (!metadata) return undefined;
    // An impostor could let the user sign in at another server, and take the code (RFC 8414, section 3.3). The SDK's check
    // would refuse well-known services.
    if (!isSameIssuer(metadata.issuer, issuer) && !areRelated(metadata.issuer, issuer)) {
      throw notOAuth(`its authorization server at ${origin} names a different issuer`);
    }
    // The SDK's schema of OpenID Connect omits these.
    const said = JSON.parse(text);
    const { authorization_response_iss_parameter_supported: namesIssuer } = said;
    const endpoints = ["revocation_endpoint", "device_authorization_endpoint"];
    return {
      ...metadata,
      ...Object.fromEntries(endpoints.filter((key) => typeof said[key] === "string").map((key) => [key, said[key]])),
      authorization_response_iss_parameter_supported: namesIssuer === true,
    };
  } catch (error) {
    if (isOurs(error)) throw error;
    throw notOAuth(`its authorization server at ${origin} returned invalid OAuth metadata`);
  }
}

/** Well-known services name a host above or below their own. No other owner can have either of them. */
function areRelated(one: string, other: string): boolean {
  const [a, b] = [URL.parse(one), URL.parse(other)];
  if (!a || !b || a.protocol !== b.protocol) return false;
  const isBelow = (host: string, above: string) =>
    host === above || (host.endsWith(`.${above}`) && above.includes("."));
  return isBelow(a.host, b.host) || isBelow(b.host, a.host);
}

/** Whether both are spellings of one URL. */
export function isSameIssuer(one: string, other: string): boolean {
  const plain = (text: string) => (URL.parse(text)?.href ?? text).replace(/\/$/, "");
  return plain(one) === plain(other);
}
