/** Doctor check of the sign-in of people: whether the OIDC provider of the config can be used, and whether its clock and this one agree. */
import { counted } from "../../base/counted.ts";
import { toClaudikinsError } from "../../base/errors.ts";
import { isObject, parsedJson } from "../../base/json-object.ts";
import { type Oidc, requireUsable } from "../../config/oidc.ts";
import type { Provider, ProviderAnswer, ProviderMetadata } from "../../policy/people/provider.ts";
import { type CheckParts, type Finding, findingsOf } from "./finding.ts";

const { ok, warning, problem, failure } = findingsOf("sign-ins");

const edit = "claudikins config edit";

export async function peopleFindings({ config: { oidc } }: CheckParts): Promise<Finding[]> {
  if (!oidc) return [];
  try {
    requireUsable(oidc);
  } catch (error) {
    return [failure("people.settings", error)];
  }
  const { Provider } = await import("../../policy/people/provider.ts");
  return [...settingsFindings(oidc), ...(await providerFindings(oidc, new Provider(oidc.issuer)))];
}

/** What can be seen without the provider. */
function settingsFindings({ audience, doors, groups }: Oidc): Finding[] {
  const isOpen = Object.values(doors).some((each) => each.length > 0);
  return [
    audience.includes("")
      ? problem("people.audience", 'An "audience" in auth.oidc is empty', "CONFIG_INVALID", edit)
      : ok("people.audience", `Access tokens must be for ${audience.join(" or ")}`),
    ...(isOpen
      ? []
      : [warning("people.doors", 'Nobody who signs in may use anything: "doors" in auth.oidc has no groups', edit)]),
    ...(groups.trim() === ""
      ? [problem("people.groups", '"groups" in auth.oidc is empty', "CONFIG_INVALID", edit)]
      : []),
  ];
}

async function providerFindings(oidc: Oidc, provider: Provider): Promise<Finding[]> {
  const repair = 'Compare "issuer" in auth.oidc with the provider, and check that this machine can reach it';
  let metadata: ProviderMetadata;
  try {
    metadata = await provider.metadata();
  } catch (error) {
    return [problem("people.provider", toClaudikinsError(error).message, "SERVER_UNAVAILABLE", repair)];
  }
  const begunAt = Date.now();
  const keys = await provider.fetch(metadata.jwks_uri).catch(() => undefined);
  return [
    ok("people.provider", `People sign in at ${provider.issuer}, which answers with its metadata`),
    keysFinding(metadata, keys),
    ...(keys ? clockFindings(oidc, keys, (begunAt + Date.now()) / 2) : []),
    groupsFinding(oidc, metadata),
    ...missingEndpoints(oidc, metadata),
  ];
}

function keysFinding({ jwks_uri: { href } }: ProviderMetadata, answer: ProviderAnswer | undefined): Finding {
  const found = answer?.status === 200 ? parsedJson(answer.text) : undefined;
  const all: unknown[] = isObject(found) && Array.isArray(found["keys"]) ? found["keys"] : [];
  const usable = all.filter((key) => isObject(key) && key["use"] !== "enc" && isPublicKind(key["kty"]));
  if (usable.length > 0) return ok("people.keys", `The provider has ${counted(usable.length, "key")} for signatures`);
  const text = `No token can be verified: ${href} has no key for signatures`;
  const repair = "Open the address, and let the provider sign with a private key (RS, PS, ES or EdDSA)";
  return problem("people.keys", text, "SERVER_UNAVAILABLE", repair);
}

function isPublicKind(kind: unknown): boolean {
  return typeof kind === "string" && ["RSA", "EC", "OKP"].includes(kind);
}

/** `at` is the time here when the answer was made, in milliseconds since 1970. */
function clockFindings({ clockSkewSeconds }: Oidc, { headers }: ProviderAnswer, at: number): Finding[] {
  const date = Date.parse(headers.get("date") ?? "");
  if (Number.isNaN(date)) return [];
  // A cache says how old its answer is, and the date has whole seconds.
  const ageMs = Number(headers.get("age") ?? 0) * 1_000 || 0;
  const apart = date + ageMs - at;
  const differenceMs = apart > 0 ? apart : Math.max(0, -apart - 1_000);
  if (differenceMs <= clockSkewSeconds * 1_000) {
    return [
      ok("people.clock", `The clocks of the provider and of this machine differ by less than ${clockSkewSeconds} s`),
    ];
  }
  const which = apart > 0 ? "behind" : "ahead of";
  const text = `The clock of this machine is ${Math.round(differenceMs / 1_000)} s ${which} the provider's, and ${clockSkewSeconds} s are allowed`;
  return [warning("people.clock", text, 'Set the clock, or raise "clockSkewSeconds" in auth.oidc')];
}

/** Providers need not list all claims. */
function groupsFinding({ groups }: Oidc, { claims_supported: claims }: ProviderMetadata): Finding {
  const isListed = claims === undefined || claims.includes(groups) || claims.includes(groups.split(".")[0]!);
  const more = isListed ? "" : ", which the provider does not list: look for it in a token";
  return ok("people.groups", `The groups of people are in the claim "${groups}"${more}`);
}

/** The endpoints that the settings need. */
function missingEndpoints({ clientId, introspection }: Oidc, metadata: ProviderMetadata): Finding[] {
  const { authorization_endpoint: authorization, token_endpoint: token, introspection_endpoint: asking } = metadata;
  const say = (id: string, text: string) => [problem(id, text, "CONFIG_INVALID", edit)];
  return [
    ...(clientId !== undefined && !(authorization && token)
      ? say("people.page", "Nobody can sign in to the page: the provider has no authorization or token endpoint")
      : []),
    ...(introspection && introspection.url === undefined && !asking
      ? say("people.introspection", 'The provider has no introspection_endpoint: give "url" in auth.oidc.introspection')
      : []),
  ];
}
