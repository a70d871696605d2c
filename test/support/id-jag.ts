/**
 * Enterprise-managed authorization for tests (draft-ietf-oauth-identity-assertion-authz-grant): the company's provider gives assertions about
 * its people, and the authorization server of an MCP server gives tokens for them. Both check what the specification asks them to check.
 */
import { createLocalJWKSet, exportJWK, exportPKCS8, generateKeyPair, type JWK, jwtVerify, SignJWT } from "jose";
import type Provider from "oidc-provider";
import { type ClientMetadata, errors, type KoaContextWithOIDC } from "oidc-provider";
import type { OidcFixture } from "./oidc.ts";
import type { OwnAccounts } from "./own-accounts.ts";

export const exchangeGrant = "urn:ietf:params:oauth:grant-type:token-exchange";
export const assertionType = "urn:ietf:params:oauth:token-type:id-jag";
const bearerGrant = "urn:ietf:params:oauth:grant-type:jwt-bearer";

const ofGrant = { redirect_uris: [], response_types: [], grant_types: [bearerGrant] };
const keyPair = await generateKeyPair("ES256", { extractable: true });

/** The private key of the client `desk-key`, as PEM. */
export const deskKey = await exportPKCS8(keyPair.privateKey);

/** The clients of claudikins at the authorization server of the MCP server: with a secret, with a key, and with a document for all servers. */
export const deskClients: ClientMetadata[] = [
  { ...ofGrant, client_id: "desk-client", client_secret: "desk-secret" },
  {
    ...ofGrant,
    client_id: "desk-key",
    token_endpoint_auth_method: "private_key_jwt",
    token_endpoint_auth_signing_alg: "ES256",
    jwks: { keys: [await exportJWK(keyPair.publicKey)] },
  },
  { ...ofGrant, client_id: "https://tools.example.com/client.json", token_endpoint_auth_method: "none" },
];

export interface AssertionPolicy {
  /** The servers that people may use, as audience and resource. */
  servers: { audience: string; resource: string }[];
  /** The people who may not. */
  refused: Set<string>;
  /** An error for everybody, such as that a person must sign in again. */
  error: string | undefined;
  /** Claims and header that replace those of an assertion. */
  claims: Record<string, unknown>;
  header: Record<string, unknown>;
  /** With `true`, the assertion that was given last is given again. */
  repeats: boolean;
  /** The assertions so far, and the types of the tokens that they were given for. */
  given: string[];
  subjects: string[];
  /** The type of token in the answers, if it is not that of an assertion. */
  issuedType: string | undefined;
}

export function assertionPolicy(): AssertionPolicy {
  const none = { refused: new Set<string>(), claims: {}, header: {}, given: [], subjects: [] };
  return { servers: [], repeats: false, error: undefined, issuedType: undefined, ...none };
}

/** The answer to a token exchange that asks for an assertion. */
export async function assertion({ params, client }: KoaContextWithOIDC["oidc"], fixture: OidcFixture) {
  const { subject_token: given = "", subject_token_type: type = "", ...rest } = params as Record<string, string>;
  const { audience, resource, scope } = rest;
  const { issuer, assertions } = fixture;
  const isIdToken = type.endsWith(":id_token");
  const keys = createLocalJWKSet({ keys: await fixture.keys() });
  // An ID token counts only for the client that got it.
  const expected = isIdToken ? client!.clientId : "https://tools.example.com";
  const { payload } = await jwtVerify(given, keys, { issuer, audience: expected }).catch((error: Error) => {
    throw new errors.InvalidGrant(`subject token: ${error.message}`);
  });
  if (isIdToken !== (payload["at_hash"] !== undefined || payload["nonce"] !== undefined)) {
    throw new errors.InvalidRequest("subject_token is not what subject_token_type says");
  }
  if (assertions.error !== undefined) throw new errors.CustomOIDCProviderError(assertions.error, "sign in again");
  const isKnown = assertions.servers.some((each) => each.audience === audience && each.resource === resource);
  if (!isKnown || assertions.refused.has(payload.sub!))
    throw new errors.InvalidTarget("the policy does not allow this");
  assertions.subjects.push(`${payload.sub} ${type.split(":").at(-1)}`);
  const [last] = assertions.given.slice(-1);
  const now = Math.floor(Date.now() / 1_000);
  const claims = {
    iss: issuer,
    sub: payload.sub,
    aud: audience,
    resource,
    client_id: "desk-client",
    jti: crypto.randomUUID(),
    iat: now,
    exp: now + 60,
    scope,
    ...assertions.claims,
  };
  const fresh = () => fixture.forged(claims, { typ: "oauth-id-jag+jwt", ...assertions.header });
  const token = assertions.repeats && last !== undefined ? last : await fresh();
  assertions.given.push(token);
  return {
    access_token: token,
    issued_token_type: assertions.issuedType ?? assertionType,
    token_type: "N_A",
    expires_in: 60,
    ...(scope === undefined ? {} : { scope }),
  };
}

/** What an authorization server knows of a provider whose assertions it accepts. */
export interface TrustedProvider {
  issuer: string;
  keys(): Promise<JWK[]>;
}

interface Acceptance {
  trusted: TrustedProvider;
  accounts: OwnAccounts;
  /** Signs the access tokens. */
  key: CryptoKey;
}

/** Lets an authorization server give tokens for assertions of a provider, each of them once. */
export function acceptAssertions(server: Provider, { trusted, accounts, key }: Acceptance): void {
  const used = new Set<string>();
  server.registerGrantType(
    bearerGrant,
    async (context) => {
      const { assertion: given = "", scope = "" } = context.oidc.params as Record<string, string>;
      const refuse = (why: string) => new errors.CustomOIDCProviderError("invalid_grant", why);
      const keys = createLocalJWKSet({ keys: await trusted.keys() });
      const { payload } = await jwtVerify(given, keys, {
        issuer: trusted.issuer,
        audience: accounts.issuer,
        typ: "oauth-id-jag+jwt",
        algorithms: ["RS256"],
        requiredClaims: ["sub", "exp", "iat", "jti", "client_id"],
      }).catch((error: Error) => {
        throw refuse(`assertion: ${error.message}`);
      });
      if (payload["client_id"] !== context.oidc.client!.clientId) throw refuse("the assertion is for another client");
      if (payload["resource"] !== accounts.url) throw refuse("the assertion is for another server");
      if (used.has(payload.jti!)) throw refuse(`${given} was used before`);
      const granted = String(payload["scope"] ?? "");
      if (granted.split(" ").some((each) => !scope.split(" ").includes(each))) throw refuse("scope");
      used.add(payload.jti!);
      accounts.assertions.push(given);
      const now = Math.floor(Date.now() / 1_000);
      const claims = { iss: accounts.issuer, aud: accounts.url, sub: payload.sub!, jti: crypto.randomUUID() };
      context.body = {
        access_token: await new SignJWT({ ...claims, iat: now, exp: now + accounts.tokenSeconds })
          .setProtectedHeader({ alg: "RS256", kid: "k" })
          .sign(key),
        token_type: "Bearer",
        expires_in: accounts.tokenSeconds,
        scope: granted,
      };
    },
    ["assertion", "scope"],
  );
}
