/** The sign-in that the security schemes of a document describe: where a person agrees, and where tokens are. */
import { isWebAddress } from "../../config/sources.ts";
import type { SourceSignIn } from "../source.ts";
import type { Api, OAuthFlow, SecurityScheme } from "./api.ts";

/** Scopes that are asked for if the entry names none. More of them than a person can read are no choice. */
const maxScopes = 30;

/** Undefined if no scheme is of OAuth or OpenID Connect. `baseUrl` is the address of the entry. */
export function signInOf(api: Api, baseUrl: string | undefined): SourceSignIn | undefined {
  const address = baseUrl ?? api.servers.find(isWebAddress);
  if (address === undefined) return undefined;
  for (const [name, scheme] of Object.entries(api.securitySchemes)) {
    const found = ofScheme(scheme, address);
    if (found) return { address, scopes: scopesOf(api, name), ...found };
  }
  return undefined;
}

function ofScheme(scheme: SecurityScheme, address: string): Omit<SourceSignIn, "address" | "scopes"> | undefined {
  // The address in a document may be relative to the API.
  const absolute = (text: string | undefined) =>
    text === undefined || text === "" ? undefined : (URL.parse(text, address)?.href ?? undefined);
  if (scheme.type === "openIdConnect") {
    const openIdUrl = absolute(scheme.url);
    return openIdUrl === undefined ? undefined : { openIdUrl };
  }
  if (scheme.type !== "oauth2") return undefined;
  const flow = (kind: OAuthFlow["kind"]) => scheme.flows.find((each) => each.kind === kind);
  const [code, device, client] = [flow("authorizationCode"), flow("deviceAuthorization"), flow("clientCredentials")];
  const tokenUrl = absolute(code?.tokenUrl ?? device?.tokenUrl ?? client?.tokenUrl);
  if (tokenUrl === undefined) return undefined;
  const [authorizationUrl, deviceUrl] = [absolute(code?.authorizationUrl), absolute(device?.deviceAuthorizationUrl)];
  return {
    tokenUrl,
    ...(authorizationUrl === undefined ? {} : { authorizationUrl }),
    ...(deviceUrl === undefined ? {} : { deviceUrl }),
  };
}

/** The scopes that the operations need. Empty if these are too many: the authorization server then chooses, or the entry does. */
function scopesOf({ operations }: Api, scheme: string): string[] {
  const needed = new Set(operations.flatMap(({ security }) => security.flatMap((each) => each[scheme] ?? [])));
  return needed.size > maxScopes ? [] : [...needed].sort();
}
