/** The package oidc-provider with device codes and registration, and an MCP server that its tokens open, on one port of this machine. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair } from "jose";
import Provider, { type Configuration } from "oidc-provider";
import { providerMemory } from "./oidc-memory.ts";

export interface DeviceProvider extends AsyncDisposable {
  /** The address of the MCP server. */
  url: string;
  /** The grants of the requests for tokens, in order, without the questions whether a person has entered the code. */
  grants: string[];
  /** The codes for people, in order. */
  codes: string[];
  /** The number of clients that have registered. */
  registrations: number;
  /** Seconds between two such questions, and the life of a code. */
  interval: number;
  codeSeconds: number;
  /** How many of the next questions are answered with 503, and how many with `slow_down`. */
  failures: number;
  slowDowns: number;
  /** Whether the metadata has device codes. */
  isOffered: boolean;
  /** Makes the tokens unknown that the server has given so far. */
  expireTokens(): void;
  /** Enters the code as a person in a browser does, and agrees or refuses. */
  enter(code: string, answer?: "agree" | "refuse"): Promise<void>;
}

const resourcePath = "/mcp";

export async function deviceProvider(): Promise<DeviceProvider> {
  const expired = new Set<string>();
  const seen = new Set<string>();
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const resource = `${issuer}${resourcePath}`;
  const pair = await generateKeyPair("RS256", { extractable: true });
  const jwk = { ...(await exportJWK(pair.privateKey)), kid: "one", use: "sig", alg: "RS256" };
  const fixture: DeviceProvider = {
    url: resource,
    grants: [],
    codes: [],
    registrations: 0,
    interval: 0.2,
    codeSeconds: 600,
    failures: 0,
    slowDowns: 0,
    isOffered: true,
    expireTokens() {
      for (const token of seen) expired.add(token);
    },
    enter: (code, given = "agree") => enter(`${issuer}/device`, code, given),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  const provider = new Provider(issuer, configuration(fixture, jwk, resource));
  provider.use(async (context, next) => {
    if (context.path.startsWith("/interaction/")) {
      await provider.interactionFinished(context.req, context.res, { login: { accountId: "ann" }, consent: {} });
      context.respond = false;
      return;
    }
    await next();
    const body = context.body as Record<string, unknown>;
    if (context.path === "/device/auth" && context.status === 200) {
      body["interval"] = fixture.interval;
      fixture.codes.push(String(body["user_code"]));
    }
    if (context.path === "/reg" && context.status === 201) fixture.registrations += 1;
    if (context.path.includes("/.well-known/") && !fixture.isOffered) delete body["device_authorization_endpoint"];
    if (context.path !== "/token") return;
    const isPending = body["error"] === "authorization_pending";
    if (!isPending) fixture.grants.push(String(context.oidc.params?.["grant_type"]));
    else if (fixture.failures-- > 0) context.status = 503;
    else if (fixture.slowDowns-- > 0) body["error"] = "slow_down";
  });
  const handle = provider.callback();

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
    const send = (status: number, body: object, headers: Record<string, string> = {}) =>
      response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
    if (request.url === `/.well-known/oauth-protected-resource${resourcePath}`) {
      return send(200, { resource, authorization_servers: [issuer], scopes_supported: ["tools"] });
    }
    if (request.url !== resourcePath) return handle(request, response);
    const token = request.headers.authorization?.replace(/^Bearer /, "") ?? "";
    const known = expired.has(token) ? undefined : await provider.AccessToken.find(token);
    if (!known || ![known.aud].flat().includes(resource)) return send(401, {}, { "www-authenticate": "Bearer" });
    seen.add(token);
    if (request.method !== "POST") return response.writeHead(405).end();
    const { id, method, params } = (await new Response(request as never).json()) as {
      id?: number;
      method: string;
      params?: { protocolVersion?: string; arguments?: object };
    };
    const results: Record<string, () => object> = {
      initialize: () => ({
        protocolVersion: params?.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: "guarded", version: "1" },
      }),
      "tools/list": () => ({ tools: [{ name: "echo", inputSchema: { type: "object" } }] }),
      "tools/call": () => ({ content: [{ type: "text", text: JSON.stringify(params?.arguments ?? {}) }] }),
    };
    if (id === undefined) return response.writeHead(202).end();
    return send(200, { jsonrpc: "2.0", id, result: results[method]?.() ?? {} });
  }
  return fixture;
}

function configuration(fixture: DeviceProvider, jwk: object, resource: string): Configuration {
  return {
    adapter: providerMemory(),
    jwks: { keys: [jwk] } as NonNullable<Configuration["jwks"]>,
    cookies: { keys: ["cookies of tests"] },
    scopes: ["openid", "offline_access", "tools"],
    ttl: { DeviceCode: () => fixture.codeSeconds },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    issueRefreshToken: async (_, client) => client.grantTypeAllowed("refresh_token"),
    rotateRefreshToken: true,
    features: {
      devInteractions: { enabled: false },
      deviceFlow: { enabled: true },
      registration: { enabled: true },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => resource,
        useGrantedResource: () => true,
        getResourceServerInfo: (_, audience) => ({
          scope: "tools",
          audience,
          accessTokenTTL: 300,
          accessTokenFormat: "opaque",
        }),
      },
    },
    findAccount: (_, subject) => ({ accountId: subject, claims: () => ({ sub: subject }) }),
    // Nobody is asked for consent.
    async loadExistingGrant({ oidc }) {
      const { client, provider, session } = oidc;
      const grant = new provider.Grant({ accountId: session!.accountId!, clientId: client!.clientId });
      grant.addOIDCScope("openid offline_access tools");
      grant.addResourceScope(resource, "tools");
      await grant.save();
      return grant;
    },
  };
}

/** Goes through the pages of the provider: the code, the confirmation, and the sign-in, which needs no password. */
async function enter(page: string, code: string, answer: "agree" | "refuse"): Promise<void> {
  const cookies = new Map<string, string>();
  const visit = async (to: string, form?: Record<string, string>): Promise<string> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const body = form && new URLSearchParams(form);
    const response = await fetch(to, {
      redirect: "manual",
      headers: { cookie },
      ...(body ? { method: "POST", body } : {}),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const location = response.headers.get("location");
    return location === null ? response.text() : visit(new URL(location, to).href);
  };
  const secretIn = (html: string) => /name="xsrf" value="([^"]+)"/.exec(html)?.[1] ?? "";
  const xsrf = secretIn(await visit(page));
  const confirmation = await visit(page, { xsrf, user_code: code });
  const chosen: Record<string, string> = answer === "agree" ? { confirm: "yes" } : { abort: "yes" };
  const last = await visit(page, { xsrf: secretIn(confirmation), user_code: code, ...chosen });
  if (answer === "agree" && !last.includes("success")) throw new Error(`the sign-in failed: ${last}`);
}
