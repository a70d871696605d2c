/** The authorization server that the document of a web API describes, in the form in which MCP servers describe theirs. */
import type { FetchLike } from "@modelcontextprotocol/client";
import { ClaudikinsError } from "../../base/errors.ts";
import type { Environment } from "../../config/environment.ts";
import type { NetworkServer } from "../../config/load.ts";
import { sourcesFolder } from "../../config/locations.ts";
import type { Api } from "../../sources/openapi/api.ts";
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

interface Surroundings {
  env: Environment;
  signal: AbortSignal;
}

/** The sign-in of a web API. Undefined for an MCP server, and for an API whose document describes none. Throws what `apiOf` throws. */
export async function describedSignIn(
  server: NetworkServer,
  headers: Record<string, string>,
  surroundings: Surroundings,
): Promise<SourceSignIn | undefined> {
  if (server.transport !== "openapi") return undefined;
  const { signInOf } = await import("../../sources/openapi/sign-in.ts");
  return signInOf(await apiOf(server, headers, surroundings), server.baseUrl);
}

/** The API that the document of an entry describes. Throws CONFIG_INVALID, FILE_NOT_FOUND and SERVER_UNAVAILABLE. */
export async function apiOf(
  server: NetworkServer,
  headers: Record<string, string>,
  { env, signal }: Surroundings,
): Promise<Api> {
  const { openapi: document = "", baseUrl, include, exclude, overlays } = server;
  const { readApi } = await import("../../sources/openapi/api-in-worker.ts");
  // The headers of an entry are for the API. Its document may be at the host of somebody else.
  const isSameHost = baseUrl !== undefined && URL.parse(document)?.origin === URL.parse(baseUrl)?.origin;
  const own = isSameHost ? headers : {};
  const cacheFolder = sourcesFolder(env);
  try {
    return await readApi({ document, baseUrl, include, exclude, overlays, headers: own, cacheFolder, signal });
  } catch (error) {
    // A sign-in to the API would not help.
    if (!(error instanceof ClaudikinsError) || error.code !== "AUTH_REQUIRED") throw error;
    throw new ClaudikinsError("CONFIG_INVALID", error.message, {
      hint: isSameHost
        ? 'Check "headers" in its entry: the host of the document refuses them.'
        : 'Save the document in a file, and name the file in "openapi". Or, if it is at the host of the API, add "baseUrl" and "headers".',
    });
  }
}
