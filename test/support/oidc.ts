/** An OIDC provider for tests: the package oidc-provider on a port of this machine, with people who sign in without a password. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createLocalJWKSet, exportJWK, generateKeyPair, type JWK, jwtVerify, SignJWT } from "jose";
import Provider, { type Configuration, errors } from "oidc-provider";
import { type AssertionPolicy, assertion, assertionPolicy, assertionType, exchangeGrant } from "./id-jag.ts";
import { providerMemory } from "./oidc-memory.ts";

export interface Account {
  groups?: string[];
  email?: string;
}

export interface OidcFixture extends AsyncDisposable {
  issuer: string;
  /** The people, by their subjects. Changes count for the next token. */
  accounts: Record<string, Account>;
  /** Life of access tokens in seconds. */
  tokenSeconds: number;
  /** Whether browsers can sign out. It counts after the next `rotate`. */
  canSignOut: boolean;
  /** Whether access tokens are opaque instead of JWTs. */
  isOpaque: boolean;
  /** Questions about tokens so far. */
  introspections: number;
  /** Claims that replace those in the answers to such questions. */
  introspected: Record<string, unknown>;
  /** Life of ID tokens in seconds. */
  idTokenSeconds: number;
  /** An access token of the person, by the authorization code flow. */
  token(subject: string, options?: { audience?: string; scope?: string }): Promise<string>;
  /** A token with any header and any claims, signed with the provider's key. */
  forged(claims: Record<string, unknown>, header?: Record<string, unknown>): Promise<string>;
  /** The public keys. */
  keys(): Promise<JWK[]>;
  /** Replaces the signing key. */
  rotate(): Promise<void>;
  /** Requests for the keys so far. */
  keyRequests: number;
  /** How far the clock of the provider is ahead, as its answers say. */
  aheadMs: number;
  /** With `true`, connections are closed without an answer. */
  isDown: boolean;
  /** Tokens that were exchanged so far, by subject and audience. */
  exchanges: string[];
  /** Why no token is exchanged. Undefined: tokens are. */
  exchangeProblem: string | undefined;
  /** What assertions (ID-JAG) the provider gives. */
  assertions: AssertionPolicy;
  /** Where the provider tells of sign-outs, and whether it names the session. It counts after the next `rotate`. */
  backChannel: { uri: string; namesSession: boolean } | undefined;
}

export const agentRedirect = "http://127.0.0.1:9/agent";

/** `redirects` are the addresses of the page that its client may send people back to. */
export async function oidcFixture(accounts: Record<string, Account>, redirects: string[] = []): Promise<OidcFixture> {
  let handler: ((request: IncomingMessage, response: ServerResponse) => unknown) | undefined;
  const server = createServer((request, response) => {
    if (request.url === "/token/introspection") fixture.introspections += 1;
    if (request.url?.endsWith("/jwks")) fixture.keyRequests += 1;
    if (fixture.isDown) return void request.socket.destroy();
    response.setHeader("date", new Date(Date.now() + fixture.aheadMs).toUTCString());
    return void handler?.(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  let key: CryptoKey;
  let jwk: JWK;

  const start = async () => {
    const pair = await generateKeyPair("RS256", { extractable: true });
    key = pair.privateKey;
    jwk = { ...(await exportJWK(pair.privateKey)), kid: crypto.randomUUID(), use: "sig", alg: "RS256" };
    const provider = new Provider(issuer, configuration(fixture, jwk, redirects));
    provider.registerGrantType(
      exchangeGrant,
      async (context) => {
        const {
          subject_token: given,
          audience,
          requested_token_type: type,
        } = context.oidc.params as Record<string, string>;
        if (type === assertionType) {
          context.body = await assertion(context.oidc, fixture);
          return;
        }
        const keys = createLocalJWKSet({ keys: await fixture.keys() });
        const { payload } = await jwtVerify(given!, keys, { issuer, audience: "https://tools.example.com" });
        if (fixture.exchangeProblem !== undefined) throw new errors.InvalidTarget(fixture.exchangeProblem);
        fixture.exchanges.push(`${payload.sub} ${audience}`);
        const now = Math.floor(Date.now() / 1_000);
        const { tokenSeconds } = fixture;
        const claims = { iss: issuer, sub: payload.sub, aud: audience, iat: now, exp: now + tokenSeconds };
        context.body = {
          access_token: await fixture.forged({ ...claims, jti: crypto.randomUUID() }),
          issued_token_type: "urn:ietf:params:oauth:token-type:access_token",
          token_type: "Bearer",
          expires_in: tokenSeconds,
        };
      },
      ["subject_token", "subject_token_type", "requested_token_type", "audience", "resource", "scope"],
    );
    provider.use(async (context, next) => {
      if (context.path === "/token/introspection") {
        await next();
        Object.assign(context.body as object, fixture.introspected);
        return;
      }
      if (!context.path.startsWith("/interaction/")) return next();
      // Everybody is who the request or the form says.
      const { params } = await provider.interactionDetails(context.req, context.res);
      const { req } = context;
      const named =
        req.method === "POST" ? new URLSearchParams(await new Response(req as never).text()).get("who") : undefined;
      const accountId = named ?? params["login_hint"];
      if (accountId === undefined) {
        context.type = "html";
        context.body = '<form method="post"><input name="who"><button>Sign in</button></form>';
        return;
      }
      await provider.interactionFinished(req, context.res, { login: { accountId: String(accountId) } });
      context.respond = false;
    });
    handler = provider.callback();
  };

  const fixture: OidcFixture = {
    issuer,
    accounts,
    tokenSeconds: 300,
    canSignOut: true,
    isOpaque: false,
    introspections: 0,
    introspected: {},
    idTokenSeconds: 3_600,
    keyRequests: 0,
    aheadMs: 0,
    isDown: false,
    exchanges: [],
    exchangeProblem: undefined,
    assertions: assertionPolicy(),
    backChannel: undefined,
    async token(subject, { audience = "https://tools.example.com", scope = "openid tools" } = {}) {
      const code = await authorized(issuer, { subject, audience, scope });
      const answer = await fetch(`${issuer}/token`, {
        method: "POST",
        headers: { authorization: `Basic ${btoa("agent:agent-secret")}` },
        body: new URLSearchParams({
          grant_type: "authorization_code",
          code,
          redirect_uri: agentRedirect,
          code_verifier: verifier,
          resource: audience,
        }),
      });
      const { access_token: token, ...rest } = (await answer.json()) as { access_token?: string };
      if (token === undefined) throw new Error(JSON.stringify(rest));
      return token;
    },
    forged: (claims, header = {}) =>
      new SignJWT(claims).setProtectedHeader({ alg: "RS256", kid: jwk.kid!, ...header }).sign(key),
    keys: async () => ((await (await fetch(`${issuer}/jwks`)).json()) as { keys: JWK[] }).keys,
    rotate: start,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  await start();
  return fixture;
}

const verifier = "a-verifier-of-more-than-forty-three-characters-for-pkce";
const challenge = Buffer.from(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier))).toString(
  "base64url",
);

function configuration(fixture: OidcFixture, jwk: JWK, redirects: string[]): Configuration {
  const claims = (subject: string) => ({ ...fixture.accounts[subject] });
  const { backChannel } = fixture;
  return {
    adapter: providerMemory(),
    clients: [
      {
        client_id: "agent",
        client_secret: "agent-secret",
        redirect_uris: [agentRedirect],
        grant_types: ["authorization_code"],
      },
      {
        client_id: "page",
        client_secret: "page-secret",
        redirect_uris: redirects,
        post_logout_redirect_uris: redirects.map((each) => each.replace("signed-in", "signed-out")),
        grant_types: ["authorization_code", exchangeGrant],
        ...(backChannel && {
          backchannel_logout_uri: backChannel.uri,
          backchannel_logout_session_required: backChannel.namesSession,
        }),
      },
      {
        client_id: "api",
        client_secret: "api-secret",
        redirect_uris: [],
        response_types: [],
        grant_types: [],
      },
      {
        client_id: "exchanger",
        client_secret: "exchanger-secret",
        redirect_uris: [],
        response_types: [],
        grant_types: [exchangeGrant],
      },
    ],
    jwks: { keys: [jwk] },
    cookies: { keys: ["cookies of tests"] },
    scopes: ["openid"],
    claims: { openid: ["sub", "groups", "email"] },
    conformIdTokenClaims: false,
    ttl: { IdToken: () => fixture.idTokenSeconds },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    features: {
      devInteractions: { enabled: false },
      introspection: { enabled: true, allowedPolicy: (_, { clientId }) => clientId === "api" },
      revocation: { enabled: true },
      rpInitiatedLogout: { enabled: fixture.canSignOut },
      backchannelLogout: { enabled: backChannel !== undefined },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => "https://tools.example.com",
        useGrantedResource: () => true,
        getResourceServerInfo: (_, audience) => ({
          scope: "tools other",
          audience,
          accessTokenTTL: fixture.tokenSeconds,
          accessTokenFormat: fixture.isOpaque ? "opaque" : "jwt",
          jwt: { sign: { alg: "RS256" } },
        }),
      },
    },
    extraTokenClaims: (_, token) => claims("accountId" in token ? String(token.accountId) : ""),
    findAccount: (_, subject) => ({ accountId: subject, claims: () => ({ sub: subject, ...claims(subject) }) }),
    // Nobody is asked for consent.
    async loadExistingGrant({ oidc }) {
      const { client, params, provider, session } = oidc;
      const grant = new provider.Grant({ accountId: session!.accountId!, clientId: client!.clientId });
      grant.addOIDCScope("openid");
      grant.addResourceScope(String(params!["resource"] ?? "https://tools.example.com"), "tools other");
      await grant.save();
      return grant;
    },
  };
}

/** Follows the redirects of a sign-in as a browser does, and returns the code. */
async function authorized(
  issuer: string,
  { subject, audience, scope }: { subject: string; audience: string; scope: string },
) {
  const url = new URL(`${issuer}/auth`);
  const query = {
    client_id: "agent",
    response_type: "code",
    redirect_uri: agentRedirect,
    scope,
    resource: audience,
    login_hint: subject,
    code_challenge: challenge,
    code_challenge_method: "S256",
  };
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  const cookies = new Map<string, string>();
  const back = await followed(url, (to) => to.href.startsWith(agentRedirect), cookies);
  const code = back.searchParams.get("code");
  if (code === null) throw new Error(back.search);
  return code;
}

/** Follows redirects with cookies until `isEnd`. Returns the address that is not requested. */
export async function followed(from: URL, isEnd: (to: URL) => boolean, cookies: Map<string, string>): Promise<URL> {
  let at = from;
  for (let steps = 0; steps < 10; steps += 1) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await fetch(at, { redirect: "manual", headers: cookie === "" ? {} : { cookie } });
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const location = response.headers.get("location");
    if (location === null) throw new Error(`${at.href}: ${response.status} ${await response.text()}`);
    at = new URL(location, at);
    if (isEnd(at)) return at;
  }
  throw new Error("too many redirects");
}
