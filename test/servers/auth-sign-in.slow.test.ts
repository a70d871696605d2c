/** Signing in and out with every kind of authorization server, and the errors of unsuitable ones. */
import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { beginSignIn, lastRedirect, signInStatus, signOut } from "../../src/servers/auth/sign-in.ts";
import type { Options } from "../fixtures/servers/oauth/options.ts";
import { root } from "../support/claudikins.ts";
import { type OAuthFixture, oauthFixture } from "../support/oauth.ts";
import { AuthHarness, type Entry } from "./auth-harness.ts";

setDefaultTimeout(60_000);

let harness: AuthHarness;
let server: OAuthFixture | undefined;
const others: { stop(): unknown }[] = [];
afterEach(async () => {
  const secrets = (await server?.secrets()) ?? [];
  await harness[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
  server = undefined;
  await Promise.all(others.splice(0).map((each) => each.stop()));
  harness.expectSecrecy(secrets);
});

async function open(options: Partial<Options> = {}, entry: Partial<Entry> = {}): Promise<OAuthFixture> {
  server = await oauthFixture(options);
  harness = new AuthHarness({ far: { url: server.url, ...entry } });
  return server;
}

const { signal } = new AbortController();
const clientDocuments = {
  "https://example.com/client.json": {
    client_id: "https://example.com/client.json",
    redirect_uris: ["http://127.0.0.1:9/callback"],
  },
};
const pre = { id: "me", secret: "secret of mine: 100%", redirectUris: ["http://127.0.0.1:9/callback"] };

describe("sign-in", () => {
  const kinds: Record<string, [Partial<Options>, NonNullable<Entry["oauth"]>?]> = {
    "metadata below the path": [{}],
    "metadata at the root": [{ resourceMetadata: "root" }],
    "metadata where the header says": [{ resourceMetadata: "header" }],
    "no metadata of the resource": [{ resourceMetadata: "none" }],
    "no metadata at all, as in 2025-03-26": [{ resourceMetadata: "none", serverMetadata: "none" }],
    "OpenID Connect": [{ serverMetadata: "openid" }],
    "an issuer with a path": [{ issuerPath: "/tenant" }],
    "an issuer with a path, and OpenID Connect": [{ issuerPath: "/tenant", serverMetadata: "openid" }],
    "clients with a secret in a header": [{ authMethods: ["client_secret_basic"] }],
    "clients with a secret in the form": [{ authMethods: ["client_secret_post"] }],
    "a document for a client": [
      { clientDocuments, registration: false },
      { clientMetadataUrl: "https://example.com/client.json", grant: "authorization_code" },
    ],
    "a document for a client, and OpenID Connect": [
      { clientDocuments, registration: false, serverMetadata: "openid" },
      { clientMetadataUrl: "https://example.com/client.json", grant: "authorization_code" },
    ],
    "a document, where only registration is known": [
      {},
      { clientMetadataUrl: "https://example.com/client.json", grant: "authorization_code" },
    ],
    "a client that was registered by hand": [
      { clients: [{ ...pre, secret: "of mine" }], registration: false, authMethods: ["client_secret_post"] },
      { clientId: "me", clientSecret: "of mine", grant: "authorization_code" },
    ],
    "a client whose secret a command prints": [
      { clients: [{ ...pre, secret: "of mine" }], registration: false, authMethods: ["client_secret_post"] },
      { clientId: "me", clientSecret: "${command:/bin/echo of mine}", grant: "authorization_code" },
    ],
    "a public client that was registered by hand": [
      { clients: [{ id: "me", redirectUris: pre.redirectUris }], registration: false, authMethods: ["none"] },
      { clientId: "me", grant: "authorization_code" },
    ],
  };
  test.each(Object.keys(kinds))("works with %s", async (kind) => {
    const [options, oauth] = kinds[kind]!;
    const { stats, issuer, change } = await open(options, { oauth });
    await harness.signIn();
    expect(await harness.call("echo", { a: 1 })).toEqual({ a: 1 });
    await change({ expireTokens: true });
    expect(await harness.call("echo", { a: 2 })).toEqual({ a: 2 });
    const { problems, refreshes } = await stats();
    expect({ problems, refreshes }).toEqual({ problems: [], refreshes: 1 });
    expect(signInStatus(harness.server(), harness.store)).toMatchObject({ state: "signed in", renewable: true });
    const status = signInStatus(harness.server(), harness.store) as { issuer: string };
    expect(new URL(status.issuer).href).toBe(new URL(issuer).href);
  });

  test.each([
    [{ challengeScopes: ["a", "b"], scopesSupported: ["c"] }, undefined, "a b"],
    [{ scopesSupported: ["c", "d"] }, undefined, "c d"],
    [{ challengeScopes: ["a"], scopesSupported: ["c"], door: "session" as const }, undefined, "a"],
    [{ challengeScopes: ["a"] }, ["x y", "z"], "x y z"],
    [{}, undefined, ""],
  ])("requests scopes for %j with %j in the config", async (options, scopes, asked) => {
    const { stats } = await open(options, { oauth: { scopes, grant: "authorization_code" } });
    await harness.signIn();
    await harness.call();
    expect((await stats()).authorizations.map(({ scope }) => scope)).toEqual([asked]);
    expect(signInStatus(harness.server(), harness.store)).toMatchObject({
      scopes: asked === "" ? [] : asked.split(" "),
    });
  });

  test("registers a client once per redirect, even if the person does not come back", async () => {
    const { stats } = await open();
    const begin = (port: number) =>
      beginSignIn(harness.server(), harness.store, {
        redirectUrl: new URL(`http://127.0.0.1:${port}/callback`),
        signal,
      });
    await begin(9);
    expect(lastRedirect(harness.server(), harness.store)?.href).toBe("http://127.0.0.1:9/callback");
    await harness.signIn();
    expect((await stats()).registrations).toBe(1);
    await begin(10);
    expect((await stats()).registrations).toBe(2);
    // Beginning a sign-in does not change the existing one.
    expect(await harness.call("echo", { a: 1 })).toEqual({ a: 1 });
  });
});

describe("a client metadata document", () => {
  const document = JSON.parse(readFileSync(join(root, "docs", "client-metadata.json"), "utf8"));
  const clientMetadataUrl = "https://example.org/people/me.json";
  const published = { [clientMetadataUrl]: { ...document, client_id: clientMetadataUrl } };
  const redirectUrl = new URL(document.redirect_uris[0]);

  async function signIn(oauth: Entry["oauth"]): Promise<void> {
    const options = { redirectUrl, signal: AbortSignal.timeout(60_000) };
    const begun = await beginSignIn({ ...harness.server(), oauth }, harness.store, options);
    const page = await fetch(begun!.authorizationUrl, { redirect: "manual" });
    await begun!.finish(new URL(page.headers.get("location")!));
  }

  test("may be the one in the docs, with its own address", async () => {
    const { stats } = await open({ clientDocuments: published });
    await signIn({ clientMetadataUrl, callbackPort: Number(redirectUrl.port), grant: "authorization_code" });
    expect(await harness.call("echo", { a: 1 })).toEqual({ a: 1 });
    const { registrations, authorizations, problems } = await stats();
    expect([registrations, problems, authorizations.map(({ clientId }) => clientId)]).toEqual([
      0,
      [],
      [clientMetadataUrl],
    ]);
  });

  test("is preferred to a client that was registered before, and to another document, but not to a client of the config", async () => {
    const other = "https://example.org/other.json";
    const clients = [{ id: "me", redirectUris: [redirectUrl.href] }];
    const clientDocuments = { ...published, [other]: { ...document, client_id: other } };
    const { stats } = await open({ clientDocuments, clients });
    const grant = "authorization_code" as const;
    await signIn(undefined);
    await signIn({ clientMetadataUrl: other, grant });
    await signIn({ clientMetadataUrl, grant });
    await signIn({ clientMetadataUrl, clientId: "me", grant });
    const { registrations, authorizations } = await stats();
    expect(registrations).toBe(1);
    expect(authorizations.map(({ clientId }) => clientId).slice(1)).toEqual([other, clientMetadataUrl, "me"]);
  });

  test("is proposed by the error where a client cannot register itself", async () => {
    await open({ clientDocuments: {}, registration: false });
    expect(await harness.failure(signIn(undefined))).toContain(
      '"oauth": { "clientMetadataUrl": "https://…", "callbackPort": … }',
    );
  });
});

describe("sign-out", () => {
  test("revokes and forgets tokens once", async () => {
    const { stats } = await open();
    expect(signInStatus(harness.server(), harness.store)).toEqual({ state: "signed out" });
    await harness.signIn();
    expect(signInStatus(harness.server(), harness.store)).toEqual({
      state: "signed in",
      since: expect.any(Number),
      expiresAt: expect.any(Number),
      renewable: true,
      scopes: [],
      issuer: expect.any(String),
    });
    await harness.call();
    expect(await signOut(harness.server(), harness.store, { signal })).toBe(true);
    expect(await signOut(harness.server(), harness.store, { signal })).toBe(false);
    expect(await stats()).toMatchObject({ revocations: 1, problems: [] });
    expect(signInStatus(harness.server(), harness.store)).toEqual({ state: "signed out" });
    expect(await harness.failure(harness.call())).toContain("it needs a sign-in (401)");
  });

  test.each([{ revocation: false }, { revocation: "error" }] as const)("works with %j", async (options) => {
    await open(options);
    await harness.signIn();
    expect(await signOut(harness.server(), harness.store, { signal })).toBe(true);
    expect(signInStatus(harness.server(), harness.store)).toEqual({ state: "signed out" });
  });

  test("is not the only end: tokens that cannot be renewed expire", async () => {
    await open({ refreshTokens: false });
    await harness.signIn();
    expect(signInStatus(harness.server(), harness.store)).toMatchObject({ state: "signed in", renewable: false });
    await harness.store.update(harness.server(), (record) => ({
      ...record!,
      tokens: { ...record!.tokens!, expiresAt: 5 },
    }));
    expect(signInStatus(harness.server(), harness.store)).toEqual({
      state: "expired",
      since: expect.any(Number),
      expiresAt: 5,
    });
  });
});

describe("a failed sign-in", () => {
  const kinds: Record<string, [Partial<Options>, Partial<Entry>?, ((redirect: URL) => void)?]> = {
    "the person refuses": [{ person: "refuses" }],
    "the redirect belongs to another sign-in": [{ stateInRedirect: "wrong" }],
    "the redirect has no state": [{ stateInRedirect: "missing" }],
    "the redirect comes from another authorization server": [{ issuerInRedirect: "wrong" }],
    "the promised issuer is missing": [{ issuerInRedirect: "missing" }],
    "the redirect has no code": [{}, {}, (redirect) => redirect.searchParams.delete("code")],
    "the code is invalid": [{ tokenAnswer: "invalid_grant" }],
    "the authorization server fails": [{ tokenAnswer: "error" }],
    "the response has no token": [{ tokenAnswer: "nonsense" }],
    "no client can be registered": [{ registration: false }],
    "the token endpoint does not use TLS": [{ tokenLie: "http://auth.example.com/token" }],
    "metadata of another server": [{ resourceLie: "https://example.com/mcp" }],
    "metadata of another issuer": [{ issuerLie: "https://example.com" }],
    "no sign-in is needed or offered": [{ door: "open", resourceMetadata: "none", serverMetadata: "none" }],
  };
  test.each(Object.keys(kinds))("says why: %s", async (kind) => {
    const [options, entry, change] = kinds[kind]!;
    await open(options, entry);
    const text = await harness.failure(harness.signIn("far", change));
    expect(text).toMatchSnapshot();
    expect(signInStatus(harness.server(), harness.store)).toEqual({ state: "signed out" });
  });

  test("a client that the authorization server no longer knows is forgotten at the end of the sign-in", async () => {
    const { change, stats } = await open();
    const forget = () => change({ forgetClients: true });
    const redirectUrl = new URL("http://127.0.0.1:9/callback");
    const begun = await beginSignIn(harness.server(), harness.store, { redirectUrl, signal });
    const page = await fetch(begun!.authorizationUrl, { redirect: "manual" });
    await forget();
    expect(await harness.failure(begun!.finish(new URL(page.headers.get("location")!)))).toMatchInlineSnapshot(`
      "AUTH_REQUIRED: Cannot sign in to server "far": its authorization server issued no token: invalid_client: no such client
      hint: Start again: claudikins auth login far"
    `);
    await harness.signIn();
    expect((await stats()).registrations).toBe(2);
  });

  test("a sign-in can be finished only once", async () => {
    await open();
    const redirectUrl = new URL("http://127.0.0.1:9/callback");
    const begun = await beginSignIn(harness.server(), harness.store, { redirectUrl, signal });
    const page = await fetch(begun!.authorizationUrl, { redirect: "manual" });
    const redirect = new URL(page.headers.get("location")!);
    const stranger = new URL(redirect);
    stranger.searchParams.set("state", "of another");
    await harness.failure(begun!.finish(stranger));
    // A request of another sign-in has not ended this one.
    await begun!.finish(redirect);
    expect(await harness.failure(begun!.finish(redirect))).toMatchInlineSnapshot(`
      "AUTH_REQUIRED: Cannot sign in to server "far": this sign-in is already done
      hint: Start again: claudikins auth login far"
    `);
    await harness.call();
  });

  test("a cancelled sign-in does not wait for a server", async () => {
    const silent = Bun.serve({ port: 0, fetch: () => new Promise<Response>(() => {}) });
    others.push(silent);
    harness = new AuthHarness({ far: { url: `http://127.0.0.1:${silent.port}/mcp` } });
    const cancel = new AbortController();
    const redirectUrl = new URL("http://127.0.0.1:9/callback");
    const begun = beginSignIn(harness.server(), harness.store, { redirectUrl, signal: cancel.signal });
    setTimeout(() => cancel.abort(), 50);
    expect(await harness.failure(begun)).toMatchInlineSnapshot(`"CANCELLED: The sign-in to far was cancelled"`);
  });

  /** A server that is its own authorization server, with the test's answers. */
  function hostile(answers: Record<string, (request: Request) => Response | Promise<Response>>): Bun.Server<undefined> {
    const started = Bun.serve({
      port: 0,
      fetch(request) {
        const { pathname, origin } = new URL(request.url);
        const answer = answers[pathname];
        if (answer) return answer(request);
        if (pathname === "/mcp") return new Response("", { status: 401 });
        if (pathname !== "/.well-known/oauth-authorization-server") return new Response("", { status: 404 });
        return Response.json({
          issuer: `${origin}/`,
          authorization_endpoint: `${origin}/authorize`,
          token_endpoint: `${origin}/token`,
          registration_endpoint: `${origin}/register`,
          response_types_supported: ["code"],
        });
      },
    });
    others.push(started);
    harness = new AuthHarness({ far: { url: `http://127.0.0.1:${started.port}/mcp` } });
    return started;
  }

  const register = async (request: Request) =>
    Response.json({
      ...((await request.json()) as object),
      client_id: "me",
      client_secret: "secret-of-the-client~ +",
      token_endpoint_auth_method: "client_secret_basic",
    });

  /** Finishes a sign-in as if the person had agreed. */
  async function finish(): Promise<void> {
    const redirectUrl = new URL("http://127.0.0.1:9/callback");
    const begun = await beginSignIn(harness.server(), harness.store, { redirectUrl, signal });
    const state = begun!.authorizationUrl.searchParams.get("state");
    await begun!.finish(new URL(`${redirectUrl}?code=secret-code&state=${state}`));
  }

  test("texts of an authorization server are shown on one line, without what we sent", async () => {
    hostile({
      "/register": register,
      "/token": async (request) => {
        const sent = await request.text();
        const description = `\u001b[31mno\r\nlines ${sent} ${atob(request.headers.get("authorization")!.slice(6))} ${"x".repeat(500)}`;
        return Response.json({ error: "invalid_request", error_description: description }, { status: 400 });
      },
    });
    const text = await harness.failure(finish());
    expect(text).not.toMatch(/secret/);
    expect(text).toMatchInlineSnapshot(`
      "AUTH_REQUIRED: Cannot sign in to server "far": its authorization server issued no token: invalid_request: [31mno lines grant_type=authorization_code&code=…&code_verifier=…&redirect_uri=… me:… xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…
      hint: Start again: claudikins auth login far"
    `);
    harness.expectSecrecy(["secret-code", "secret-of-the-client"]);
  });

  test("a refusal with status 200 is a refusal", async () => {
    hostile({ "/register": register, "/token": () => Response.json({ error: "bad_verification_code" }) });
    expect(await harness.failure(finish())).toMatchInlineSnapshot(`
      "AUTH_REQUIRED: Cannot sign in to server "far": its authorization server issued no token: bad_verification_code
      hint: Start again: claudikins auth login far"
    `);
  });

  test("responses are read up to 1 MB", async () => {
    const page = () => new Response("x".repeat(2_000_000));
    hostile({ "/.well-known/oauth-authorization-server": page });
    expect(await harness.failure(finish())).toMatchInlineSnapshot(`
      "PROTOCOL_ERROR: Cannot sign in to server "far": its authorization server sent more than 1 MB
      hint: Report this to its operator, or add a token to its "headers" in the config."
    `);
  });

  test.each(["/.well-known/oauth-authorization-server", "/register", "/token"])(
    "compressed responses are read up to 1 MB after decompression (%s)",
    async (path) => {
      const packed = gzipSync(Buffer.alloc(200 * 1_048_576, "[1,"));
      const bomb = () => new Response(packed, { headers: { "content-encoding": "gzip" } });
      hostile({ "/register": register, [path]: bomb });
      expect(await harness.failure(finish())).toContain("its authorization server sent more than 1 MB");
    },
  );

  test("secrets and tokens are not sent to another origin", async () => {
    const seen: string[] = [];
    const away = Bun.serve({
      port: 0,
      async fetch(request) {
        seen.push(`${request.method} ${request.headers.get("authorization") ?? ""}${await request.text()}`);
        return Response.json({ access_token: "x", token_type: "Bearer" });
      },
    });
    others.push(away);
    const there = () => Response.redirect(`http://127.0.0.1:${away.port}/token`, 307);
    hostile({ "/register": register, "/token": there });
    expect(await harness.failure(finish())).toMatchInlineSnapshot(`
      "PROTOCOL_ERROR: Cannot sign in to server "far": its authorization server returned no valid token
      hint: Report this to its operator, or add a token to its "headers" in the config."
    `);
    expect(seen).toEqual([]);

    await harness[Symbol.asyncDispose]();
    hostile({ "/mcp": there });
    await harness.store.update(harness.server(), () => ({
      server: "far",
      issuer: "https://example.com",
      tokens: { access: "secret-token", scopes: [], since: 1, obtainedAt: 1 },
    }));
    await harness.failure(harness.call());
    expect(seen).toEqual([]);
  });

  test("an authorization server without TLS is refused, unless everything is on this machine", async () => {
    const { port } = hostile({
      "/.well-known/oauth-protected-resource/mcp": () =>
        Response.json({ resource: `http://127.0.0.1:${port}/mcp`, authorization_servers: ["http://nowhere.invalid"] }),
    });
    expect(await harness.failure(finish())).toMatchInlineSnapshot(`
      "PROTOCOL_ERROR: Cannot sign in to server "far": its authorization server does not use TLS (http://nowhere.invalid)
      hint: Ask its operator for an https:// address: signing in without TLS is unsafe."
    `);
  });

  const nowhere = "its sign-in points to https://";

  test.each(["https://169.254.169.254", "https://2852039166", "https://[::ffff:169.254.169.254]"])(
    "a sign-in never leads to the metadata service of a cloud: %s",
    async (address) => {
      // By the header, by the server's description, and by each endpoint of its authorization server.
      const header = { "www-authenticate": `Bearer resource_metadata="${address}/latest"` };
      hostile({ "/mcp": () => new Response("", { status: 401, headers: header }) });
      expect(await harness.failure(finish())).toContain(nowhere);
      await harness[Symbol.asyncDispose]();
      const { port } = hostile({
        "/.well-known/oauth-protected-resource/mcp": () =>
          Response.json({ resource: `http://127.0.0.1:${port}/mcp`, authorization_servers: [address] }),
      });
      expect(await harness.failure(finish())).toContain(nowhere);
      for (const endpoint of ["registration_endpoint", "authorization_endpoint", "token_endpoint"]) {
        await harness[Symbol.asyncDispose]();
        hostile({
          "/register": register,
          "/.well-known/oauth-authorization-server": described({ [endpoint]: address }),
        });
        expect([endpoint, await harness.failure(finish())]).toEqual([endpoint, expect.stringContaining(nowhere)]);
      }
    },
  );

  test("an address with a name or password is not opened", async () => {
    for (const endpoint of ["registration_endpoint", "authorization_endpoint", "token_endpoint"]) {
      const away = { [endpoint]: "https://bank.example@evil.example/x" };
      hostile({ "/register": register, "/.well-known/oauth-authorization-server": described(away) });
      expect([endpoint, await harness.failure(finish())]).toEqual([
        endpoint,
        expect.stringMatching(/^PROTOCOL_ERROR: .*(?:contains credentials|hides where it leads)/),
      ]);
      await harness[Symbol.asyncDispose]();
    }
    hostile({});
  });

  /** An authorization server's description with some of its endpoints elsewhere. */
  function described(elsewhere: Record<string, string>) {
    return (request: Request) => {
      const { origin } = new URL(request.url);
      return Response.json({
        issuer: `${origin}/`,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        registration_endpoint: `${origin}/register`,
        response_types_supported: ["code"],
        ...elsewhere,
      });
    };
  }
});
