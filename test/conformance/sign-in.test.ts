/**
 * The suite has no scenarios about the authorization of servers. This is the flow that such scenarios have in its drafts: a client of the SDK,
 * which knows only the address of `serve --http`, finds the provider, signs in and calls.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { auth, type OAuthClientProvider, UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { OAuthTokens } from "@modelcontextprotocol/sdk/shared/auth.js";
import { freePort } from "../support/free-port.ts";
import { httpServe } from "../support/http-serve.ts";
import { agentRedirect, followed, type OidcFixture, oidcFixture } from "../support/oidc.ts";
import { temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(60_000);

let provider: OidcFixture;
beforeAll(async () => {
  provider = await oidcFixture({ ann: { groups: ["qa-team"] } });
});
afterAll(() => provider[Symbol.asyncDispose]());

/** Signs ann in. `asked` has the parameters of the sign-in. */
class Agent implements OAuthClientProvider {
  readonly redirectUrl = agentRedirect;
  readonly clientMetadata = { redirect_uris: [agentRedirect] };
  asked = new URLSearchParams();
  code = "";
  #tokens: OAuthTokens | undefined;
  #verifier = "";

  clientInformation() {
    return { client_id: "agent", client_secret: "agent-secret" };
  }
  tokens() {
    return this.#tokens;
  }
  saveTokens(tokens: OAuthTokens) {
    this.#tokens = tokens;
  }
  saveCodeVerifier(verifier: string) {
    this.#verifier = verifier;
  }
  codeVerifier() {
    return this.#verifier;
  }
  async redirectToAuthorization(url: URL) {
    this.asked = url.searchParams;
    const as = new URL(url);
    as.searchParams.set("login_hint", "ann");
    const back = await followed(as, ({ href }) => href.startsWith(agentRedirect), new Map());
    this.code = back.searchParams.get("code") ?? "";
  }
}

test.each(["/mcp", "/qa"])("a client that knows only the address %s signs in and calls", async (path) => {
  using folder = temporaryFolder();
  const port = freePort();
  const address = `http://127.0.0.1:${port}`;
  const doors = { mcp: ["*"], qa: ["qa-team"] };
  folder.write("claudikins.json", {
    mcpServers: {},
    doors: { qa: { servers: [] } },
    auth: { oidc: { issuer: provider.issuer, audience: address, address, scopes: ["tools"], doors } },
  });
  await using _serve = await httpServe(folder, [], { token: "kept", port: String(port) });
  const agent = new Agent();
  const connect = async (url: string) => {
    const transport = new StreamableHTTPClientTransport(new URL(url), { authProvider: agent });
    const client = new Client({ name: "agent", version: "1" });
    await client.connect(transport as never);
    return client;
  };
  const url = `${address}${path}`;
  expect(await connect(url).catch((error: unknown) => error)).toBeInstanceOf(UnauthorizedError);
  expect(Object.fromEntries(agent.asked)).toMatchObject({
    resource: url,
    scope: "tools",
    code_challenge_method: "S256",
  });
  expect(await auth(agent, { serverUrl: url, authorizationCode: agent.code })).toBe("AUTHORIZED");
  const client = await connect(url);
  const { content } = await client.callTool({ name: "execute_code", arguments: { code: "return 6 * 7" } });
  await client.close();
  expect((content as { text: string }[])[0]?.text).toStartWith("42");
  // The token is for this address only.
  const other = path === "/mcp" ? "/qa" : "/mcp";
  const headers = { authorization: `Bearer ${agent.tokens()?.access_token}`, "content-type": "application/json" };
  const refused = await fetch(`${address}${other}`, { method: "POST", headers, body: "{}" });
  expect([refused.status, refused.headers.get("www-authenticate")]).toEqual([
    401,
    expect.stringContaining(`resource_metadata="${address}/.well-known/oauth-protected-resource${other}"`),
  ]);
});
