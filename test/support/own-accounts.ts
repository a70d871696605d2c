/**
 * A server on the network with accounts of its own, for tests: the package oidc-provider signs its people in, and its tool `who` returns
 * whose token a call has. Its list of tools is another one for each person.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createLocalJWKSet, exportJWK, generateKeyPair, type JWTPayload, jwtVerify } from "jose";
import Provider from "oidc-provider";
import { acceptAssertions, deskClients, type TrustedProvider } from "./id-jag.ts";
import { providerMemory } from "./oidc-memory.ts";

export interface OwnAccounts extends AsyncDisposable {
  /** The address of the MCP server. */
  url: string;
  issuer: string;
  /** The name of the server in its metadata, if that is not its address. */
  resource: string | undefined;
  /** Life of access tokens in seconds. */
  tokenSeconds: number;
  /** Requests to the authorization server so far. */
  requests: number;
  /** Token requests with a refresh token so far. */
  refreshes: number;
  /** The refresh tokens that were used so far, with the time. */
  refreshed: { token: string; at: number }[];
  /** Tokens of calls so far. */
  tokens: Set<string>;
  /** Assertions that the authorization server has accepted so far. */
  assertions: string[];
  /** Refuses all tokens of before. */
  forget(): void;
  /** Sessions that were begun so far, with whose token. */
  sessions: string[];
  /** The extensions of the protocol that the client has announced. */
  extensions: string[];
}

type Verify = (token: string) => Promise<JWTPayload>;

/**
 * `verify` checks tokens of another provider instead of the server's own. With `trusted`, the authorization server also gives tokens for
 * assertions (ID-JAG) of that provider, to the clients `deskClients`.
 */
export async function ownAccounts(verify?: Verify, trusted?: TrustedProvider): Promise<OwnAccounts> {
  const pair = await generateKeyPair("RS256", { extractable: true });
  const jwk = { ...(await exportJWK(pair.privateKey)), kid: "k", use: "sig", alg: "RS256" };
  let handle: ReturnType<Provider["callback"]> | undefined;
  const server = createServer((request, response) => {
    fixture.requests += 1;
    void handle?.(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const keys = createLocalJWKSet({ keys: [{ ...(await exportJWK(pair.publicKey)), kid: "k", alg: "RS256" }] });
  const own: Verify = async (token) => (await jwtVerify(token, keys, { issuer, audience: fixture.url })).payload;

  const forgotten = new Set<string>();
  const mcp = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    // A client that stands still gets its answer later.
    idleTimeout: 0,
    fetch: async (request) => {
      const { pathname } = new URL(request.url);
      if (pathname.startsWith("/.well-known/oauth-protected-resource")) {
        return Response.json({
          resource: fixture.resource ?? fixture.url,
          authorization_servers: [issuer],
          scopes_supported: ["use"],
        });
      }
      if (request.method !== "POST") return new Response(null, { status: 405 });
      const token = request.headers.get("authorization")?.replace("Bearer ", "") ?? "";
      const payload = await (verify ?? own)(token).catch(() => undefined);
      if (!payload) {
        const metadata = `${new URL(fixture.url).origin}/.well-known/oauth-protected-resource/mcp`;
        return new Response(null, {
          status: 401,
          headers: { "www-authenticate": `Bearer resource_metadata="${metadata}"` },
        });
      }
      if (forgotten.has(token)) return new Response(null, { status: 401, headers: { "www-authenticate": "Bearer" } });
      fixture.tokens.add(token);
      return answer((await request.json()) as Message, String(payload.sub), fixture);
    },
  });

  const fixture: OwnAccounts = {
    url: `http://127.0.0.1:${mcp.port}/mcp`,
    issuer,
    resource: undefined,
    assertions: [],
    tokenSeconds: 300,
    requests: 0,
    refreshes: 0,
    refreshed: [],
    tokens: new Set(),
    sessions: [],
    extensions: [],
    forget() {
      for (const each of fixture.tokens) forgotten.add(each);
    },
    async [Symbol.asyncDispose]() {
      await mcp.stop(true);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  const provider = new Provider(issuer, {
    adapter: providerMemory(),
    clients: trusted ? deskClients : [],
    jwks: { keys: [jwk] },
    cookies: { keys: ["cookies of tests"] },
    scopes: ["openid", "offline_access", "use"],
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    issueRefreshToken: async () => true,
    rotateRefreshToken: true,
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => fixture.url,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope: "use",
          audience: fixture.url,
          accessTokenTTL: fixture.tokenSeconds,
          accessTokenFormat: "jwt",
          jwt: { sign: { alg: "RS256" } },
        }),
      },
    },
    findAccount: (_, subject) => ({ accountId: subject, claims: () => ({ sub: subject }) }),
    async loadExistingGrant({ oidc }) {
      const grant = new oidc.provider.Grant({
        accountId: oidc.session!.accountId!,
        clientId: oidc.client!.clientId,
      });
      grant.addOIDCScope("openid offline_access use");
      grant.addResourceScope(fixture.url, "use");
      await grant.save();
      return grant;
    },
  });
  if (trusted) acceptAssertions(provider, { trusted, accounts: fixture, key: pair.privateKey });
  provider.use(async (context, next) => {
    if (context.path === "/token") {
      await next();
      const { grant_type: type, refresh_token: token } = context["oidc"]?.params ?? {};
      if (type !== "refresh_token") return;
      fixture.refreshes += 1;
      fixture.refreshed.push({ token: String(token), at: Date.now() });
      return;
    }
    if (!context.path.startsWith("/interaction/")) return next();
    // Everybody is who the request says, and agrees.
    const { params } = await provider.interactionDetails(context.req, context.res);
    const result = { login: { accountId: String(params["login_hint"]) }, consent: {} };
    await provider.interactionFinished(context.req, context.res, result);
    context.respond = false;
  });
  handle = provider.callback();
  return fixture;
}

interface Message {
  id?: number;
  method: string;
  params?: {
    name?: string;
    arguments?: { ms?: number; tag?: string };
    protocolVersion?: string;
    capabilities?: { extensions?: object };
  };
}

/** Answers as a server without sessions does. */
async function answer({ id, method, params = {} }: Message, who: string, fixture: OwnAccounts): Promise<Response> {
  if (id === undefined) return new Response(null, { status: 202 });
  const result = (value: unknown) => Response.json({ jsonrpc: "2.0", id, result: value });
  switch (method) {
    case "initialize":
      fixture.sessions.push(who);
      fixture.extensions = Object.keys(params.capabilities?.extensions ?? {});
      return result({
        protocolVersion: params.protocolVersion === "2025-06-18" ? "2025-06-18" : "2025-11-25",
        capabilities: { tools: {}, resources: {} },
        serverInfo: { name: "own accounts", version: "1" },
      });
    case "tools/list": {
      const schema = { type: "object", properties: { ms: { type: "number" }, tag: { type: "string" } } };
      const tool = (name: string) => ({ name, description: `For ${who}`, inputSchema: schema });
      return result({ tools: [tool("who"), tool(`of_${who}`)] });
    }
    case "tools/call": {
      const { ms = 0, tag = "" } = params.arguments ?? {};
      if (ms > 0) await Bun.sleep(ms);
      const value = { who, tag, [`key_of_${who}`]: `secret of ${who}` };
      return result({ content: [{ type: "text", text: JSON.stringify(value) }] });
    }
    case "resources/list":
      return result({ resources: [{ uri: `own://${who}`, name: who }] });
    case "resources/read":
      return result({ contents: [{ uri: `own://${who}`, text: `resource of ${who}` }] });
    default:
      return Response.json({ jsonrpc: "2.0", id, error: { code: -32_601, message: "no such method" } });
  }
}
