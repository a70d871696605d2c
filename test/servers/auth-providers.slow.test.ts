/** Sign-ins at authorization servers with the habits of well-known ones, as their documentation describes them. */
import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { OAuthEntry } from "../../src/config/oauth.ts";
import { parametersFor } from "../../src/servers/auth/authorize.ts";
import type { Options } from "../fixtures/servers/oauth/options.ts";
import { type OAuthFixture, oauthFixture } from "../support/oauth.ts";
import { AuthHarness } from "./auth-harness.ts";

setDefaultTimeout(60_000);

interface Provider {
  habits: Partial<Options>;
  oauth?: OAuthEntry;
  /** Whether the provider gives tokens that can be renewed. */
  renews: boolean;
  /** The scopes of the first sign-in, and of a refresh. */
  scopes: string;
  /** How the client proves who it is. */
  method: string;
  /** What the provider complains about. */
  problems?: string[];
}

const secret = "s3cr%t:/+ ü";
const client = { id: "ours", secret };
const byHand = { registration: false, clients: [{ ...client, redirectUris: ["http://127.0.0.1:9/callback"] }] };
const ownClient: OAuthEntry = { clientId: "ours", clientSecret: secret, grant: "authorization_code" };
/** RFC 9207 and RFC 8707 are newer than most of them. */
const older = { issuerPromised: false, issuerInRedirect: "missing", resourceNeeded: false } as const;

const providers: Record<string, Provider> = {
  // A refresh without scopes gives a token for Microsoft Graph; offline_access is never among the granted scopes.
  Entra: {
    habits: {
      ...older,
      registration: false,
      clients: [{ id: "ours", redirectUris: ["http://127.0.0.1:9/callback"] }],
      issuerPath: "/tenant/v2.0",
      serverMetadata: "openid",
      scopesSupported: ["openid", "offline_access"],
      challengeScopes: ["api://app/read"],
      refreshNeedsScopes: true,
      refreshNeedsOffline: true,
      unnamedScopes: ["offline_access"],
      extras: { tokens: { ext_expires_in: 3_600, id_token: null } },
    },
    oauth: { clientId: "ours", grant: "authorization_code" },
    renews: true,
    scopes: "api://app/read offline_access",
    method: "none",
  },
  Okta: {
    habits: {
      ...older,
      ...byHand,
      issuerPath: "/oauth2/default",
      serverMetadata: "openid",
      authMethods: ["client_secret_basic"],
      scopesSupported: ["openid", "offline_access"],
      challengeScopes: ["tools"],
      refreshNeedsOffline: true,
    },
    oauth: ownClient,
    renews: true,
    scopes: "tools offline_access",
    method: "client_secret_basic",
  },
  Auth0: {
    habits: {
      ...older,
      issuerSlash: true,
      authMethods: ["client_secret_basic", "client_secret_post", "private_key_jwt"],
      scopesSupported: ["openid", "offline_access"],
      challengeScopes: ["tools"],
      refreshNeedsOffline: true,
    },
    renews: true,
    scopes: "tools offline_access",
    method: "client_secret_basic",
  },
  // A refresh may ask for no other scopes than the granted ones.
  Keycloak: {
    habits: {
      ...older,
      issuerPromised: true,
      issuerInRedirect: "right",
      issuerPath: "/realms/acme",
      serverMetadata: "openid",
      challengeScopes: ["tools", "email"],
      grantedScopes: ["email", "profile"],
      extras: { tokens: { refresh_expires_in: 1_800, "not-before-policy": 0, session_state: "s" } },
    },
    renews: true,
    scopes: "tools email",
    method: "none",
    problems: ["/token: a refresh cannot ask for more than was granted (invalid_scope)"],
  },
  // Tokens of an OAuth app never expire, refusals have status 200, and scopes are separated by commas.
  GitHub: {
    habits: {
      ...older,
      ...byHand,
      issuerPath: "/login/oauth",
      authMethods: ["client_secret_post"],
      challengeScopes: ["repo", "gist"],
      refreshTokens: false,
      expirySaid: false,
      refusalStatus: 200,
      scopeSeparator: ",",
    },
    oauth: ownClient,
    renews: false,
    scopes: "repo gist",
    method: "client_secret_post",
  },
  // Tokens of a GitHub App expire. The metadata does not say how clients authenticate.
  "GitHub, for an app": {
    habits: {
      ...older,
      ...byHand,
      issuerPath: "/login/oauth",
      authMethods: ["client_secret_post"],
      authMethodsSaid: false,
      challengeScopes: ["repo"],
      refusalStatus: 200,
      extras: { tokens: { scope: "", refresh_token_expires_in: 15_897_600 } },
    },
    oauth: ownClient,
    renews: true,
    scopes: "repo",
    method: "client_secret_post",
    problems: [
      "/token: client_secret_basic is not offered (invalid_client)",
      "/token: client_secret_basic is not offered (invalid_client)",
      "/token: client_secret_basic is not offered (invalid_client)",
    ],
  },
  // A refresh token is valid for ever, and comes once.
  Google: {
    habits: {
      ...older,
      ...byHand,
      serverMetadata: "openid",
      authMethods: ["client_secret_post", "client_secret_basic"],
      scopesSupported: ["openid", "email", "profile"],
      challengeScopes: ["https://www.googleapis.com/auth/drive.readonly"],
      rotation: false,
      extras: { tokens: { id_token: "eyJ.eyJ.x" } },
    },
    oauth: ownClient,
    renews: true,
    scopes: "https://www.googleapis.com/auth/drive.readonly",
    method: "client_secret_basic",
  },
};

describe.each(Object.entries(providers))("%s", (_, { habits, oauth, renews, scopes, method, problems = [] }) => {
  let server: OAuthFixture;
  let harness: AuthHarness;
  afterEach(async () => {
    harness.expectSecrecy(await server.secrets());
    await harness[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  test("signs in, refreshes and steps up", async () => {
    const { toolScopes = { write: "more" } } = habits;
    server = await oauthFixture({ ...habits, toolScopes });
    harness = new AuthHarness({ far: { url: server.url, ...(oauth ? { oauth } : {}) } });
    expect(await harness.failure(harness.call())).toContain("hint: claudikins auth login far");
    await harness.signIn();
    expect(await harness.call("echo", { a: 1 })).toEqual({ a: 1 });

    await server.change({ expireTokens: true });
    if (renews) expect(await harness.call("echo", { a: 2 })).toEqual({ a: 2 });
    else expect(await harness.failure(harness.call())).toContain("hint: claudikins auth login far");
    const { refreshScopes, authorizations } = await server.stats();
    expect(authorizations.map(({ scope }) => scope)).toEqual([scopes]);
    expect(refreshScopes[0]).toBe(renews ? scopes : undefined);
    if (!renews) await harness.signIn();

    expect(await harness.failure(harness.call("write"))).toContain("its sign-in needs more scopes: more (403)");
    await server.change({ grantedScopes: undefined });
    if (habits.grantedScopes) await server.change({ grantedScopes: [...habits.grantedScopes, "more"] });
    await harness.signIn();
    expect(await harness.call("write", { b: 1 })).toEqual({ b: 1 });
    const stats = await server.stats();
    expect(stats.authorizations.at(-1)!.scope.split(" ")).toContain("more");
    expect(stats.authMethods.at(-1)).toBe(method);
    expect(stats.problems).toEqual(problems);
  });
});

test("only Google is asked for a refresh token by parameters of its own", () => {
  expect(parametersFor("https://accounts.google.com")).toEqual({ access_type: "offline", prompt: "consent" });
  expect(parametersFor("https://accounts.google.com.example.com")).toEqual({});
});
