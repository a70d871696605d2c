/** Verifies the JWTs of an OIDC provider, and reads the person in them. */
import type { JWTPayload } from "jose";
import { isObject } from "../../base/json-object.ts";
import { sha256 } from "../../base/sha256.ts";
import type { Oidc } from "../../config/oidc.ts";
import { maxPersonTokenChars } from "../limits.ts";
import type { Provider } from "./provider.ts";
import { PersonRefused } from "./refused.ts";

/** Groups of one person. Further ones do not count. */
const maxGroups = 1_000;

/** Characters of the name of a person in lists and logs. */
const maxPersonNameChars = 100;

/** The facts about a person in a token. Times are in milliseconds since 1970. */
export interface PersonClaims {
  id: string;
  issuer: string;
  subject: string;
  name: string;
  email: string | undefined;
  groups: string[];
  /** Set if the token has no claim about groups, such as a token for fewer scopes. The groups of other tokens are not affected. */
  isSilent?: true;
  /** Set if the provider says that it has left out the groups, because they are too many. Entra ID does so. */
  hasMoreGroups?: true;
  /** Undefined if the token does not say it. */
  issuedAt?: number | undefined;
  expiresAt: number;
  /** The session at the provider in which the token was issued. Undefined if the token does not say it. */
  session?: string | undefined;
  /** The value by which the directory of the config has the person. */
  directoryValue?: string | undefined;
}

/** Only asymmetric signatures, because the public key must not be enough to make one. */
const algorithms = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
];

/** Claims that only ID tokens have. An ID token proves a sign-in to a page, not the rights of an agent. */
const claimsOfIdTokens = ["nonce", "at_hash", "c_hash"];

/** Whether the text has the form of a JWT. */
export function looksLikeJwt(text: string): boolean {
  return /^[\w-]+\.[\w-]+\.[\w-]*$/.test(text) && text.length <= maxPersonTokenChars;
}

/** Verifies an access token, which must be for one of `audience`. Throws PersonRefused. */
export async function accessClaims(
  token: string,
  provider: Provider,
  oidc: Oidc,
  audience: readonly string[],
): Promise<PersonClaims> {
  const payload = await verified(token, provider, { audience: [...audience], skewSeconds: oidc.clockSkewSeconds });
  if (claimsOfIdTokens.some((claim) => payload[claim] !== undefined)) {
    throw invalid("this is an ID token: send the access token");
  }
  if (payload["events"] !== undefined) throw invalid("it tells of an event");
  return personOf(payload, oidc);
}

/** The person of the verified claims of an access token. Throws PersonRefused if it lacks a scope, or names nobody. */
export function personOf(payload: JWTPayload, oidc: Oidc): PersonClaims {
  const missing = oidc.scopes.filter((scope) => !scopesOf(payload).includes(scope));
  if (missing.length > 0) throw new PersonRefused("scope", `The token needs the scopes ${oidc.scopes.join(" ")}`);
  return personIn(payload, oidc);
}

/** Verifies the ID token of a sign-in to the page. Throws PersonRefused. */
export async function idClaims(token: string, provider: Provider, oidc: Oidc, nonce: string): Promise<PersonClaims> {
  const { clientId = "", clockSkewSeconds: skewSeconds } = oidc;
  const payload = await verified(token, provider, { audience: [clientId], skewSeconds });
  if (payload["nonce"] !== nonce) throw invalid("its nonce belongs to another sign-in");
  const { azp } = payload;
  if (azp !== undefined && azp !== clientId) throw invalid("it is for another client");
  return personIn(payload, oidc);
}

interface Expected {
  audience: string[];
  skewSeconds: number;
}

/** The claims of a JWT of the provider, which must be for one of `audience`. Throws PersonRefused. */
export async function verified(
  token: string,
  provider: Provider,
  { audience, skewSeconds }: Expected,
): Promise<JWTPayload> {
  const { decodeJwt, errors, jwtVerify } = await import("jose");
  const { issuer } = provider;
  try {
    // A token of another provider must not cause a request for the keys.
    if (decodeJwt(token).iss !== issuer) throw invalid("it is not of the provider of this config");
    const { payload } = await jwtVerify(token, await provider.keys(), {
      algorithms,
      issuer,
      audience,
      clockTolerance: skewSeconds,
      requiredClaims: ["sub", "exp", "iat"],
    });
    if (typeof payload.iat !== "number") throw invalid('its claim "iat" is not as expected');
    refuseFuture(payload, skewSeconds);
    return payload;
  } catch (error) {
    if (error instanceof PersonRefused) throw error;
    if (error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid) {
      throw new PersonRefused("unavailable", `The sign-in provider ${issuer} did not send its keys`);
    }
    if (error instanceof errors.JWTExpired) throw new PersonRefused("invalid", "The token has expired");
    if (error instanceof errors.JWTClaimValidationFailed)
      throw invalid(`its claim "${error.claim}" ${error.reason === "missing" ? "is missing" : "is not as expected"}`);
    if (error instanceof errors.JOSEAlgNotAllowed) throw invalid("its signature algorithm is not allowed");
    if (error instanceof errors.JOSEError || error instanceof TypeError) throw invalid("its signature does not verify");
    throw error;
  }
}

/** A token from the future would count as the newest token for a long time. Throws PersonRefused. */
export function refuseFuture({ iat = 0 }: JWTPayload, skewSeconds: number): void {
  if (iat > Date.now() / 1_000 + skewSeconds) throw invalid("it was issued in the future");
}

export function invalid(why: string): PersonRefused {
  return new PersonRefused("invalid", `The token is not accepted: ${why}`);
}

/** `scope` of RFC 8693, or `scp` of some providers. */
function scopesOf({ scope, scp }: JWTPayload): string[] {
  const given = scope ?? scp;
  return textsOf(typeof given === "string" ? given.split(" ") : given);
}

function personIn(payload: JWTPayload, oidc: Oidc): PersonClaims {
  const { iss: issuer = "", sub: subject, iat, exp = 0, sid } = payload;
  if (typeof subject !== "string" || subject === "") throw invalid("it names nobody");
  // Some providers let people enter any address.
  const email = payload["email_verified"] === false ? undefined : shortText(payload["email"]);
  const name = email ?? shortText(payload["preferred_username"]) ?? shortText(payload["name"]) ?? shortText(subject);
  return {
    id: personId(issuer, subject),
    issuer,
    subject,
    name: name ?? "?",
    email,
    groups: groupsIn(payload, oidc),
    ...(groupClaim(payload, oidc) === undefined ? { isSilent: true } : {}),
    ...(isOverage(payload, oidc) ? { hasMoreGroups: true } : {}),
    issuedAt: typeof iat === "number" ? iat * 1_000 : undefined,
    expiresAt: exp * 1_000,
    ...(typeof sid === "string" ? { session: sid } : {}),
    ...(oidc.scim ? { directoryValue: shortClaim(payload, oidc.scim.claim) } : {}),
  };
}

/** An id that stays the same for a person, even if the name changes. */
export function personId(issuer: string, subject: string): string {
  return sha256(JSON.stringify([issuer, subject])).slice(0, 16);
}

function groupsIn(payload: JWTPayload, oidc: Oidc): string[] {
  const found = groupClaim(payload, oidc);
  return textsOf(typeof found === "string" ? [found] : found).slice(0, maxGroups);
}

function groupClaim(payload: JWTPayload, { groups }: Oidc): unknown {
  return claimIn(payload, groups);
}

/** A claim elsewhere (OpenID Connect Core 1.0, section 5.6.2). */
function isOverage(payload: JWTPayload, { groups }: Oidc): boolean {
  const names = payload["_claim_names"];
  return isObject(names) && Object.hasOwn(names, groups);
}

function shortClaim(payload: JWTPayload, claim: string): string | undefined {
  const found = claimIn(payload, claim);
  return typeof found === "string" && found !== "" ? found : undefined;
}

/** The claim is a key, or a path of keys with dots between them. */
function claimIn(payload: JWTPayload, claim: string): unknown {
  const next = (value: unknown, key: string) => (isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined);
  return Object.hasOwn(payload, claim) ? payload[claim] : claim.split(".").reduce<unknown>(next, payload);
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}

/** One line that a terminal can show. */
function shortText(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  const text = value.replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, " ").trim();
  return text === "" ? undefined : text.slice(0, maxPersonNameChars);
}
