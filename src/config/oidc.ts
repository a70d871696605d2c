/** How people sign in to `serve --http` at an OIDC provider: the key `auth.oidc` of the config, and what their groups may do. */
import { ClaudikinsError } from "../base/errors.ts";
import { isSafe } from "../base/loopback.ts";
import type { Environment } from "./environment.ts";
import { expand } from "./expand.ts";

/** The value of `auth.oidc` in the config. Each group may be `*`: everybody who has signed in. */
export interface OidcEntry {
  issuer: string;
  /** The accepted values of `aud`. */
  audience: string[];
  /** The scopes that a token must have. */
  scopes: string[];
  /** The claim with the groups of a person. */
  groups: string;
  clockSkewSeconds: number;
  /** The address of `serve --http` for its users, without a path. Undefined: the one that a request was sent to. */
  address?: string | undefined;
  /** The groups that may use a door, by its name. `mcp` is the whole config. */
  doors: Record<string, string[]>;
  /** The groups that may approve calls. */
  approvers: string[];
  administrators: string[];
  /** Days without a visit after which everything that is kept of a person is deleted. Undefined: never. */
  keepDays?: number | undefined;
  /** The client at the provider for the page. */
  clientId?: string | undefined;
  clientSecret?: string | undefined;
  introspection?: IntrospectionEntry | undefined;
  scim?: ScimEntry | undefined;
}

/** The directory that says who the people are (SCIM 2.0). */
export interface ScimEntry {
  /** The secret that it sends with each request. */
  token: string;
  /** The attribute of a user that is the same as `claim` in the tokens of the person. */
  attribute: "externalId" | "userName";
  claim: string;
  /** Whether people have the groups of the directory, and not those of their tokens. */
  groups: boolean;
}

/** The client that asks the provider about access tokens that are not JWTs (RFC 7662). `clientSecret` is a secret. */
export interface IntrospectionEntry {
  /** Undefined: the endpoint in the metadata of the provider. */
  url?: string | undefined;
  clientId: string;
  clientSecret: string;
}

/** The settings with the values of their variables. Each `clientSecret` is a secret. */
export interface Oidc extends OidcEntry {
  /** The variables that are referred to and not set. Nobody can sign in until they are. */
  needs: string[];
}

/** A person who has signed in, as the parts that work for the person know them. */
export interface Person {
  /** Made of the issuer and the subject, so it is a part of paths and keys. */
  id: string;
  /** The name in lists and logs. */
  name: string;
}

/** The name of the whole config among the doors: its path. No door can have it. */
export const wholeConfig = "mcp";

/** Where `serve --http` has the page for people. No door can have this name. */
export const pagePath = "/ui/";

/** The link that opens one approval on the page for people, after a sign-in. Undefined if people cannot sign in to the page. */
export function approvalLink({ oidc }: { oidc?: Oidc | undefined }): ((id: string) => string) | undefined {
  const { address, clientId } = oidc ?? {};
  if (address === undefined || clientId === undefined) return undefined;
  return (id) => `${address}${pagePath}?approval=${id}`;
}

/** The link at which a person signs in to a server, below `pagePath`. `person` is the id of the person who is asked to open it. */
export function connectPath(door: string | undefined, server: string, person: string): string {
  return `connect/${door ?? wholeConfig}/${encodeURIComponent(server)}?for=${person}`;
}

export function oidcOf(entry: OidcEntry, env: Environment): Oidc {
  const { value, missing } = expand(entry, env);
  return { ...value, address: value.address?.replace(/\/$/, ""), needs: missing };
}

/** Throws NEEDS_VARIABLE if a variable of the settings is not set, and CONFIG_INVALID if an address is wrong after they are filled in. */
export function requireUsable({ needs, issuer, address, introspection }: Oidc): void {
  if (needs.length > 0) {
    throw new ClaudikinsError("NEEDS_VARIABLE", `auth.oidc needs ${needs.join(", ")} in the environment`, {
      hint: `Set ${needs.join(", ")} before starting claudikins.`,
    });
  }
  const problem =
    issuerProblem(issuer) ??
    (address === undefined ? undefined : publicAddressProblem(address)) ??
    (introspection?.url === undefined ? undefined : endpointProblem(introspection.url));
  if (problem !== undefined) throw new ClaudikinsError("CONFIG_INVALID", `auth.oidc: ${problem}`);
}

/** Why the text cannot be an issuer. Undefined if it can, or if it has variables. */
export function issuerProblem(text: string): string | undefined {
  if (text.includes("${")) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && isSafe(url) && url.search === "" && url.hash === "" && url.username === "") return undefined;
  return "expected the issuer of a provider: an address that starts with https:// and has no ? or #";
}

/** Why the text cannot be a public address. Undefined if it can, or if it has variables. */
export function publicAddressProblem(text: string): string | undefined {
  if (text.includes("${")) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && isSafe(url) && url.origin === text.replace(/\/$/, "")) return undefined;
  return "expected an address without a path, such as https://tools.example.com";
}

/** Why the text cannot be an endpoint of a provider. Undefined if it can, or if it has variables. */
export function endpointProblem(text: string): string | undefined {
  if (text.includes("${")) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && isSafe(url) && url.username === "" && url.hash === "") return undefined;
  return "expected an address that starts with https://";
}

/** Whether a person with these groups is in one of the allowed groups. */
export function isIn(groups: readonly string[], allowed: readonly string[] | undefined): boolean {
  return allowed?.some((each) => each === "*" || groups.includes(each)) ?? false;
}

/** The groups of a door, by its name. Without a name, the groups of the whole config. A door without an entry is open to nobody. */
export function groupsOfDoor({ doors }: Pick<OidcEntry, "doors">, door: string | undefined): readonly string[] {
  const name = door ?? wholeConfig;
  return Object.hasOwn(doors, name) ? doors[name]! : [];
}
