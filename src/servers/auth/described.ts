/** The authorization server that the document of a web API describes, in the form in which MCP servers describe theirs. */
import type { FetchLike } from "@modelcontextprotocol/client";
import type { Environment } from "../../config/environment.ts";
import type { NetworkServer } from "../../config/load.ts";
import { sourcesFolder } from "../../config/locations.ts";
import type { SourceSignIn } from "../../sources/source.ts";
import type { Discovered, Metadata } from "./discovery.ts";
import { authorizationServer } from "./discovery.ts";
import { notOAuth } from "./words.ts";

const wellKnown = "/.well-known/openid-configuration";

/** Throws NetworkFailure. */
export async function discoveredIn(described: SourceSignIn, fetch: FetchLike): Promise<Discovered> {
  const { openIdUrl, authorizationUrl, tokenUrl, deviceUrl, scopes } = described;
  if (openIdUrl !== undefined) {
    const issuer = openIdUrl.endsWith(wellKnown) ? openIdUrl.slice(0, -wellKnown.length) : new URL(openIdUrl).origin;
    const metadata = await authorizationServer(issuer, fetch);
    if (!metadata) throw notOAuth("its document names an OpenID provider that has no metadata");
    return { issuer, metadata, resource: undefined, scopes: scopes.length > 0 ? scopes : ["openid"] };
  }
  const issuer = new URL("/", authorizationUrl ?? tokenUrl).href;
  // A document does not say whether the server knows PKCE. Servers that do not know it ignore its parameters.
  const metadata = {
    issuer,
    ...(authorizationUrl === undefined ? {} : { authorization_endpoint: authorizationUrl }),
    token_endpoint: tokenUrl,
    ...(deviceUrl === undefined ? {} : { device_authorization_endpoint: deviceUrl }),
    response_types_supported: ["code"],
    code_challenge_methods_supported: ["S256"],
  } as Metadata;
  return { issuer, metadata, resource: undefined, scopes, hasUnknownIssuer: true };
}

/** The sign-in of a web API. Undefined for an MCP server, and for an API whose document describes none. Throws what `readApi` throws. */
export async function describedSignIn(
  server: NetworkServer,
  headers: Record<string, string>,
  { env, signal }: { env: Environment; signal: AbortSignal },
): Promise<SourceSignIn | undefined> {
  const { transport, openapi: document = "", baseUrl, include, exclude, overlays } = server;
  if (transport !== "openapi") return undefined;
  const [{ readApi }, { signInOf }] = await Promise.all([
    import("../../sources/openapi/read-api.ts"),
    import("../../sources/openapi/sign-in.ts"),
  ]);
  const own = isSameHost(document, baseUrl) ? headers : {};
  const cacheFolder = sourcesFolder(env);
  const api = await readApi({ document, baseUrl, include, exclude, overlays, headers: own, cacheFolder, signal });
  return signInOf(api, baseUrl);
}

/** The headers of an entry are for the API. Its document may be at the host of somebody else. */
export function isSameHost(document: string, baseUrl: string | undefined): boolean {
  return baseUrl !== undefined && URL.parse(document)?.origin === URL.parse(baseUrl)?.origin;
}
