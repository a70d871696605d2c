/** Sign-ins with real servers: tokens are sent, renewed once for all processes, and errors say when they end. */
import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { signOut } from "../../src/servers/auth/sign-in.ts";
import type { Options } from "../fixtures/servers/oauth/options.ts";
import { type OAuthFixture, oauthFixture } from "../support/oauth.ts";
import { AuthHarness, type Entry } from "./auth-harness.ts";

setDefaultTimeout(60_000);

let harness: AuthHarness;
let server: OAuthFixture;
/** The problems that the server has seen. */
let complaints: string[] = [];
afterEach(async () => {
  const { problems } = await server.stats();
  const secrets = await server.secrets();
  await harness[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  harness.expectSecrecy(secrets);
  expect(problems).toEqual(complaints);
  complaints = [];
});

async function open(options: Partial<Options> = {}, entry: Partial<Entry> = {}, path = "/mcp"): Promise<void> {
  server = await oauthFixture(options);
  const url = server.url.replace("/mcp", path);
  harness = new AuthHarness({ far: { url, ...entry } });
}

const tokens = () => harness.store.read(harness.server())?.tokens;

/** Makes the sign-in older by this time. */
async function age(ms: number): Promise<void> {
  await harness.store.update(harness.server(), (record) => ({
    ...record!,
    tokens: {
      ...record!.tokens!,
      obtainedAt: record!.tokens!.obtainedAt - ms,
      expiresAt: record!.tokens!.expiresAt! - ms,
    },
  }));
}

describe("a server that needs a sign-in", () => {
  test("fails at once with the command, without another request, and works after the sign-in", async () => {
    await open();
    expect(await harness.failure(harness.call())).toMatchInlineSnapshot(`
      "AUTH_REQUIRED: Server "far" cannot be used: it needs a sign-in (401)
      hint: claudikins auth login far"
    `);
    expect(harness.pool.state("far")).toMatchInlineSnapshot(
      { since: expect.any(Number) },
      `
      {
        "hint": "claudikins auth login far",
        "since": Any<Number>,
        "state": "signed out",
        "why": "it needs a sign-in (401)",
      }
    `,
    );
    const { mcpRequests } = await server.stats();
    await harness.failure(harness.pool.listTools("far"));
    expect((await server.stats()).mcpRequests).toBe(mcpRequests);

    await harness.signIn();
    expect(await harness.call("echo", { a: 1 })).toEqual({ a: 1 });
    expect(harness.pool.state("far").state).toBe("ready");
    expect(harness.modes()).toEqual(["600", "700"]);
  });

  test("works over SSE", async () => {
    await open({}, { transport: "sse" }, "/sse");
    expect(await harness.failure(harness.call())).toContain("claudikins auth login far");
    await harness.signIn();
    expect(await harness.call("echo", { a: 1 })).toEqual({ a: 1 });
    await server.change({ expireTokens: true });
    expect(await harness.call("echo", { a: 2 })).toEqual({ a: 2 });
    expect((await server.stats()).refreshes).toBe(1);
  });

  test.each([
    ["plain-1.2", "claudikins auth login plain-1.2"],
    ["my server", "claudikins auth login 'my server'"],
    ["it's $HOME", "claudikins auth login 'it'\\''s $HOME'"],
  ])("has a login command for the name %j", async (name, command) => {
    server = await oauthFixture();
    harness = new AuthHarness({ [name]: { url: server.url } });
    expect(await harness.failure(harness.pool.listTools(name))).toEndWith(`\nhint: ${command}`);
  });

  test("stays broken if it refuses the config's own credentials", async () => {
    await open({}, { headers: { Authorization: "Basic bWU6c2VjcmV0" } });
    expect(await harness.failure(harness.call())).toMatchInlineSnapshot(`
      "AUTH_REQUIRED: Server "far" cannot be used: it needs a sign-in (401)
      hint: Put a valid token with the required rights in "headers" or "url" in the config."
    `);
    expect(harness.pool.state("far").state).toBe("broken");
    await harness[Symbol.asyncDispose]();
    harness = new AuthHarness({ far: { url: server.url, oauth: false } });
    expect(await harness.failure(harness.call())).toMatchInlineSnapshot(`
      "AUTH_REQUIRED: Server "far" cannot be used: it needs a sign-in (401)
      hint: Add a token to the config: "headers": { "Authorization": "Bearer \${TOKEN}" }."
    `);
    expect(harness.pool.state("far").state).toBe("broken");
    await server[Symbol.asyncDispose]();
    server = await oauthFixture();
  });
});

describe("tokens", () => {
  test("are renewed when the server refuses them, and the request is repeated", async () => {
    await open();
    await harness.signIn();
    await harness.call();
    const before = tokens();
    await server.change({ expireTokens: true });
    expect(await harness.call("echo", { a: 1 })).toEqual({ a: 1 });
    expect(tokens()).toMatchObject({ since: before!.since, scopes: before!.scopes });
    expect(tokens()!.access).not.toBe(before!.access);
    expect(tokens()!.refresh).not.toBe(before!.refresh);
    expect(await server.stats()).toMatchObject({ refreshes: 1, reused: 0, calls: { echo: 2 } });
  });

  test("are renewed before they expire, without a refused request", async () => {
    await open({ accessTokenSeconds: 600 });
    await harness.signIn();
    await age(530_000);
    await harness.call();
    expect((await server.stats()).refreshes).toBe(0);
    await age(30_000);
    await Promise.all([harness.call(), harness.call(), harness.call()]);
    expect(await server.stats()).toMatchObject({ refreshes: 1, reused: 0 });
  });

  test("keep the refresh token if the response has none", async () => {
    await open({ rotation: false });
    await harness.signIn();
    const { refresh } = tokens()!;
    for (const a of [1, 2]) {
      await server.change({ expireTokens: true });
      expect(await harness.call("echo", { a })).toEqual({ a });
    }
    expect(tokens()!.refresh).toBe(refresh);
    expect((await server.stats()).refreshes).toBe(2);
  });

  test.each(["refused", "known to have ended"])(
    "are renewed once for twelve callers in three processes: %s",
    async (how) => {
      await open({ refreshDelayMs: 300 });
      await harness.signIn();
      const callers = Array.from({ length: 3 }, () =>
        Bun.spawn([process.execPath, join(import.meta.dir, "auth-caller.ts"), harness.file, server.url, "4"], {
          stdin: "pipe",
          stdout: "pipe",
          stderr: "pipe",
        }),
      );
      const texts = callers.map(({ stdout }) => lines(stdout));
      for (const text of texts) expect((await text.next()).value).toBe("ready");
      if (how === "refused") await server.change({ expireTokens: true });
      else await age(3_600_000);
      for (const { stdin } of callers) await stdin.end();
      for (const text of texts) {
        for (let call = 0; call < 4; call++) expect((await text.next()).value).toBe("ok");
      }
      expect(await Promise.all(callers.map(({ stderr }) => stderr.text()))).toEqual(["", "", ""]);
      await Promise.all(callers.map(({ exited }) => exited));
      expect(await server.stats()).toMatchObject({ refreshes: 1, reused: 0, tokenRequests: { refresh_token: 1 } });
    },
  );

  test("are renewed with the scopes that the sign-in has asked for, whatever was granted", async () => {
    await open({ refreshNeedsScopes: true, challengeScopes: ["api/read", "api/write"] });
    await harness.signIn();
    for (const a of [1, 2]) {
      await server.change({ expireTokens: true });
      expect(await harness.call("echo", { a })).toEqual({ a });
    }
    expect((await server.stats()).refreshScopes).toEqual(["api/read api/write", "api/read api/write"]);
  });

  test("are renewed without scopes if the authorization server granted less and refuses to be asked for more", async () => {
    await open({ grantedScopes: ["read"], challengeScopes: ["read", "write"] });
    complaints = ["/token: a refresh cannot ask for more than was granted (invalid_scope)"];
    await harness.signIn();
    for (const a of [1, 2]) {
      await server.change({ expireTokens: true });
      expect(await harness.call("echo", { a })).toEqual({ a });
    }
    expect((await server.stats()).refreshScopes).toEqual(["read write", null, null]);
    expect(tokens()!.scopes).toEqual(["read"]);
  });

  test("are renewed once if they have expired and the server refuses the new one", async () => {
    await open({ accessTokenSeconds: 600 });
    await harness.signIn();
    await age(3_600_000);
    await server.change({ door: "refuse" });
    expect(await harness.failure(harness.call())).toMatchInlineSnapshot(`
      "AUTH_REQUIRED: Server "far" cannot be used: it rejected a fresh token (401)
      hint: claudikins auth login far"
    `);
    await harness.failure(harness.call());
    expect((await server.stats()).tokenRequests).toEqual({ authorization_code: 1, refresh_token: 1 });
  });

  test("are removed if the refresh token is no longer valid", async () => {
    await open();
    await harness.signIn();
    await harness.call();
    await server.change({ revokeAll: true });
    expect(await harness.failure(harness.call())).toMatchInlineSnapshot(`
      "AUTH_REQUIRED: Server "far" cannot be used: its sign-in expired
      hint: claudikins auth login far"
    `);
    expect(harness.pool.state("far")).toMatchObject({ state: "signed out", why: "its sign-in expired" });
    expect(tokens()).toBeUndefined();
    const { tokenRequests, mcpRequests } = await server.stats();
    await harness.failure(harness.call());
    expect(await server.stats()).toMatchObject({ tokenRequests, mcpRequests });
    await harness.signIn();
    expect(await harness.call("echo", { a: 1 })).toEqual({ a: 1 });
    expect((await server.stats()).registrations).toBe(1);
  });

  test("fail with the same error for all concurrent callers", async () => {
    await open({ refreshDelayMs: 100 });
    await harness.signIn();
    await harness.call();
    await server.change({ revokeAll: true });
    const texts = await Promise.all(Array.from({ length: 8 }, (_, a) => harness.failure(harness.call("echo", { a }))));
    expect([...new Set(texts)]).toEqual([
      'AUTH_REQUIRED: Server "far" cannot be used: its sign-in expired\nhint: claudikins auth login far',
    ]);
  });

  test("can expire during a call without ending it", async () => {
    await open();
    const [asked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let isOver = false;
    using plain = Bun.serve({
      port: 0,
      async fetch(request) {
        if (request.method !== "POST") return new Response("", { status: 405 });
        if (isOver) return new Response("", { status: 401, headers: { "www-authenticate": "Bearer" } });
        const { id, method } = (await request.json()) as { id?: number; method: string };
        if (id === undefined) return new Response("", { status: 202 });
        if (method === "tools/call") {
          asked.resolve();
          await answer.promise;
        }
        const server = { protocolVersion: "2025-06-18", capabilities: {}, serverInfo: { name: "x", version: "1" } };
        const result = method === "initialize" ? server : { content: [{ type: "text", text: "{}" }] };
        return Response.json({ jsonrpc: "2.0", id, result });
      },
    });
    await harness[Symbol.asyncDispose]();
    harness = new AuthHarness({ far: { url: `http://127.0.0.1:${plain.port}/mcp` } });
    const slow = harness.call("slow");
    await asked.promise;
    isOver = true;
    expect(await harness.failure(harness.call("other"))).toContain("it needs a sign-in (401)");
    expect(harness.pool.state("far").state).toBe("signed out");
    answer.resolve();
    expect(await slow).toEqual({});
  });

  test("are removed with a client that the authorization server no longer knows, and a new client is registered", async () => {
    await open();
    await harness.signIn();
    await server.change({ forgetClients: true });
    expect(await harness.failure(harness.call())).toMatchInlineSnapshot(`
      "AUTH_REQUIRED: Server "far" cannot be used: its sign-in expired
      hint: claudikins auth login far"
    `);
    await harness.signIn();
    await harness.call();
    expect((await server.stats()).registrations).toBe(2);
    complaints = ["/token: no such client (invalid_client)"];
  });

  test("are kept if the authorization server fails or cannot be reached", async () => {
    await open();
    await harness.signIn();
    await harness.call();
    const before = tokens();
    await server.change({ expireTokens: true, refreshAnswer: "error" });
    expect(await harness.failure(harness.call())).toMatchInlineSnapshot(`
      "SERVER_UNAVAILABLE: far.echo: server "far": its authorization server failed (500)
      hint: Try again later. Nothing was lost."
    `);
    expect(tokens()).toEqual(before);

    const record = harness.store.read(harness.server())!;
    const away = { ...record, metadata: { ...record.metadata!, token_endpoint: "http://127.0.0.1:1/token" } };
    await harness.store.update(harness.server(), () => away);
    expect(await harness.failure(harness.call())).toMatchInlineSnapshot(`
      "SERVER_UNAVAILABLE: far.echo: server "far": its authorization server cannot be reached: nothing listens at http://HOST
      hint: Try again later. Nothing was lost."
    `);
    expect(tokens()).toEqual(before);

    await harness.store.update(harness.server(), () => record);
    await server.change({ refreshAnswer: "right" });
    expect(await harness.call("echo", { a: 1 })).toEqual({ a: 1 });
  });

  test("end with their time if they cannot be renewed", async () => {
    await open({ refreshTokens: false });
    await harness.signIn();
    await harness.call();
    await age(3_599_000);
    await harness.call();
    await age(10_000);
    const { mcpRequests } = await server.stats();
    expect(await harness.failure(harness.call())).toMatchInlineSnapshot(`
      "AUTH_REQUIRED: Server "far" cannot be used: its sign-in expired
      hint: claudikins auth login far"
    `);
    expect((await server.stats()).mcpRequests - mcpRequests).toBeLessThan(2);
  });

  test("are not renewed again if the server refuses the new token too", async () => {
    await open();
    await harness.signIn();
    await server.change({ door: "refuse" });
    expect(await harness.failure(harness.call())).toMatchInlineSnapshot(`
      "AUTH_REQUIRED: Server "far" cannot be used: it rejected a fresh token (401)
      hint: claudikins auth login far"
    `);
    const { tokenRequests, mcpRequests } = await server.stats();
    await harness.failure(harness.call());
    expect(await server.stats()).toMatchObject({ tokenRequests, mcpRequests, refreshes: 1 });
  });
});

test("a WebSocket is opened again with a renewed token after it was refused", async () => {
  await open();
  const asked: string[] = [];
  using socket = Bun.serve<undefined>({
    port: 0,
    async fetch(request, self) {
      const { pathname } = new URL(request.url);
      asked.push(pathname);
      if (pathname === "/token") {
        expect(await request.text()).toContain("refresh_token=old-refresh");
        return Response.json({ access_token: "new", token_type: "Bearer", refresh_token: "new-refresh" });
      }
      if (request.headers.get("authorization") !== "Bearer new") return new Response("", { status: 401 });
      return self.upgrade(request, { headers: { "sec-websocket-protocol": "mcp" } })
        ? undefined
        : new Response("", { status: 426 });
    },
    websocket: {
      message(ws, text) {
        const { id, method } = JSON.parse(String(text));
        const server = {
          protocolVersion: "2025-06-18",
          capabilities: { tools: {} },
          serverInfo: { name: "x", version: "1" },
        };
        const result = method === "initialize" ? server : { content: [{ type: "text", text: "{}" }] };
        if (id !== undefined) ws.send(JSON.stringify({ jsonrpc: "2.0", id, result }));
      },
    },
  });
  const url = `ws://127.0.0.1:${socket.port}/mcp`;
  await harness[Symbol.asyncDispose]();
  harness = new AuthHarness({ far: { url, transport: "websocket" } });
  expect(await harness.failure(harness.call())).toContain("it needs a sign-in (401)\nhint: claudikins auth login far");
  await harness.store.update(harness.server(), () => ({
    server: "far",
    issuer: `http://127.0.0.1:${socket.port}`,
    client: { origin: "registered", client_id: "me" },
    tokens: { access: "old", refresh: "old-refresh", scopes: [], since: 1, obtainedAt: 1 },
  }));
  expect(await harness.call()).toEqual({});
  expect(tokens()).toMatchObject({ access: "new", refresh: "new-refresh", since: 1 });
  expect(asked.filter((path) => path === "/token")).toEqual(["/token"]);
});

test("a server that refuses a valid sign-in is an error", async () => {
  await open();
  await harness.signIn();
  await harness[Symbol.asyncDispose]();
  using strict = Bun.serve({ port: 0, fetch: () => new Response("", { status: 403 }) });
  harness = new AuthHarness({ far: { url: `http://127.0.0.1:${strict.port}/mcp` } });
  await harness.store.update(harness.server(), () => ({
    server: "far",
    tokens: { access: "token-of-mine", scopes: [], since: 1, obtainedAt: 1 },
  }));
  expect(await harness.failure(harness.call())).toMatchInlineSnapshot(`
    "AUTH_REQUIRED: Server "far" cannot be used: it denied this user access (403)
    hint: claudikins auth login far"
  `);
  harness.expectSecrecy(["token-of-mine"]);
});

test("a sign-in that cannot be stored is not renewed", async () => {
  await open();
  await harness.signIn();
  await server.change({ expireTokens: true });
  const locks = join(harness.folder.path, "data", "credentials.locks");
  rmSync(locks, { recursive: true });
  writeFileSync(locks, "a file");
  const text = await harness.failure(harness.call());
  expect(text).toMatchInlineSnapshot(`
    "FILE_NOT_WRITABLE: Server "far" cannot be used: its sign-in cannot be renewed: Cannot lock the credentials: EEXIST
    hint: Check that claudikins can write to its data folder."
  `);
  expect(text).not.toContain(harness.folder.path);
  expect((await server.stats()).tokenRequests).toEqual({ authorization_code: 1 });
  rmSync(locks);
  expect(await harness.call("echo", { a: 1 })).toEqual({ a: 1 });
});

describe("an odd answer", () => {
  test.each<[string, Partial<Options>, object]>([
    [
      "null for everything that may be missing",
      { extras: { tokens: { refresh_token: null, scope: null, expires_in: null, id_token: null, error: null } } },
      { scopes: ["read"] },
    ],
    [
      "an empty text for everything that may be missing",
      { extras: { tokens: { refresh_token: "", scope: "", expires_in: "", error: "" } } },
      { scopes: ["read"] },
    ],
    [
      "values of other types",
      {
        extras: {
          tokens: {
            refresh_token: false,
            scope: ["read", "write"],
            expires_in: "3600.5",
            id_token: 5,
            token_type: null,
          },
        },
      },
      { scopes: ["read", "write"], expiresAt: expect.any(Number) },
    ],
    [
      "scopes with commas",
      { grantedScopes: ["read", "write"], scopeSeparator: "," },
      { scopes: ["read", "write"], refresh: expect.any(String), expiresAt: expect.any(Number) },
    ],
    [
      "metadata with nulls",
      {
        extras: {
          metadata: {
            scopes_supported: null,
            service_documentation: null,
            op_policy_uri: "",
            revocation_endpoint: null,
          },
          resource: { scopes_supported: null, jwks_uri: null },
        },
      },
      { scopes: ["read"], refresh: expect.any(String), expiresAt: expect.any(Number) },
    ],
    [
      "a registration with nulls",
      {
        extras: {
          registration: {
            client_secret: null,
            client_secret_expires_at: null,
            client_uri: "",
            jwks_uri: null,
            scope: null,
            redirect_uris: null,
          },
        },
      },
      { scopes: ["read"], refresh: expect.any(String), expiresAt: expect.any(Number) },
    ],
  ])("is read as if the odd values were missing: %s", async (_, options, expected) => {
    await open({ challengeScopes: ["read"], ...options });
    await harness.signIn();
    expect(await harness.call("echo", { a: 1 })).toEqual({ a: 1 });
    const { access: _access, asked: _asked, since: _since, obtainedAt: _at, ...rest } = tokens()!;
    expect(rest as object).toEqual(expected);
  });
});

describe("headers of the entry", () => {
  const headers = { "X-Realm": "blue" };

  test("are sent with every request of a sign-in to the server's own origin", async () => {
    await open({ realm: "blue", resourceMetadata: "none" }, { headers });
    await harness.signIn();
    await server.change({ expireTokens: true });
    expect(await harness.call("echo", { a: 1 })).toEqual({ a: 1 });
    expect(await server.stats()).toMatchObject({ refreshes: 1 });
    expect(await signOut(harness.server(), harness.store, { signal: AbortSignal.timeout(20_000) })).toBe(true);
    expect(await server.stats()).toMatchObject({ revocations: 1 });
  });

  test("are not sent to an authorization server elsewhere", async () => {
    await open({ realm: "blue" }, { headers });
    await harness.signIn();
    expect(await harness.call("echo", { a: 1 })).toEqual({ a: 1 });
    expect((await server.stats()).foreignHeaders).toEqual([]);
  });

  test("are sent if a program prints them", async () => {
    const headersHelper = `echo '{"X-Realm": "blue"}'`;
    await open({ realm: "blue", resourceMetadata: "none" }, { headersHelper, oauth: { grant: "authorization_code" } });
    await harness.signIn();
    await server.change({ expireTokens: true });
    expect(await harness.call("echo", { a: 1 })).toEqual({ a: 1 });
    expect(await server.stats()).toMatchObject({ refreshes: 1 });
  });
});

describe("additional rights", () => {
  test("scopes that a server requires are named, stored, and requested together with the existing ones", async () => {
    await open({ challengeScopes: ["read"], toolScopes: { write: "files:write", admin: "admin" } });
    await harness.signIn();
    await harness.call();
    expect(await harness.failure(harness.call("write"))).toMatchInlineSnapshot(`
      "AUTH_REQUIRED: far.write: server "far": its sign-in needs more scopes: files:write (403)
      hint: claudikins auth login far"
    `);
    // Allowed calls still work.
    expect(harness.pool.state("far").state).toBe("ready");
    expect(await harness.call("echo", { a: 1 })).toEqual({ a: 1 });
    await harness.failure(harness.call("admin"));
    await harness.signIn();
    expect(await harness.call("write", { b: 1 })).toEqual({ b: 1 });
    expect(await harness.call("admin", { c: 1 })).toEqual({ c: 1 });
    expect((await server.stats()).authorizations.map(({ scope }) => scope)).toEqual(["read", "read files:write admin"]);
  });

  test.each([true, false])(
    "may be needed to connect, to list and to call, each with a sign-in; the error is named: %p",
    async (named) => {
      const methodScopes = { initialize: "start", "tools/list": "list", "tools/call": "call" };
      await open({ methodScopes, stepUpNamesError: named });
      await harness.signIn();
      for (const scope of ["start", "list", "call"]) {
        const tried = scope === "list" ? harness.pool.listTools("far") : harness.call();
        const text = await harness.failure(tried);
        expect(text).toContain(`its sign-in needs more scopes: ${scope} (403)`);
        expect(text).toEndWith("hint: claudikins auth login far");
        await harness.signIn();
      }
      expect(await harness.call("echo", { a: 1 })).toEqual({ a: 1 });
      const asked = (await server.stats()).authorizations.map(({ scope }) => scope);
      expect(asked).toEqual(["", "start", "start list", "start list call"]);
    },
  );

  test("are requested once without a person for client credentials", async () => {
    const clients = [{ id: "me", secret: "secret-of-mine" }];
    const oauth = { clientId: "me", clientSecret: "secret-of-mine", grant: "client_credentials" as const };
    await open({ clients, challengeScopes: ["read"], toolScopes: { write: "files:write" } }, { oauth });
    expect(await harness.call("write", { b: 1 })).toEqual({ b: 1 });
    expect((await server.stats()).tokenRequests).toEqual({ client_credentials: 2 });
    await server.change({ grantedScopes: ["read"], toolScopes: { write: "files:more" } });
    expect(await harness.failure(harness.call("write"))).toMatchInlineSnapshot(`
      "AUTH_REQUIRED: far.write: server "far": its sign-in needs more scopes: files:more (403)
      hint: At the authorization server, grant the required scopes to the client in its "oauth" config."
    `);
    expect((await server.stats()).tokenRequests).toEqual({ client_credentials: 3 });
  });
});

describe("client credentials", () => {
  const oauth = { clientId: "me", grant: "client_credentials" as const };
  const secret = { id: "me", secret: "secret-of-mine" };
  const odd = "secret-of-mine: 50% of a/b + é";
  const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const key = { id: "me", publicKey: pair.publicKey.export({ format: "jwk" }) as never };

  test.each([
    ["client_secret_basic", secret, { clientSecret: "secret-of-mine" }],
    ["client_secret_basic", { id: "me", secret: odd }, { clientSecret: odd }],
    ["client_secret_post", secret, { clientSecret: "secret-of-mine" }],
    ["private_key_jwt", key, { privateKey: String(pair.privateKey.export({ format: "pem", type: "pkcs8" })) }],
    [
      "private_key_jwt",
      key,
      { privateKey: String(pair.privateKey.export({ format: "pem", type: "sec1" })).replaceAll("\n", "\\n") },
    ],
    ["private_key_jwt", key, { privateKey: JSON.stringify(pair.privateKey.export({ format: "jwk" })) }],
  ] as const)("work with %s", async (method, client, proof) => {
    await open({ clients: [client], authMethods: [method], registration: false }, { oauth: { ...oauth, ...proof } });
    expect(await harness.call("echo", { a: 1 })).toEqual({ a: 1 });
    await harness.call();
    // The next process finds the tokens.
    await using other = new AuthHarness({});
    expect(other.store.read(harness.server())).toBeUndefined();
    expect(tokens()).toMatchObject({ scopes: [] });
    await server.change({ expireTokens: true });
    await Promise.all([harness.call(), harness.call(), harness.call()]);
    const { tokenRequests, authMethods } = await server.stats();
    expect({ tokenRequests, authMethods }).toEqual({
      tokenRequests: { client_credentials: 2 },
      authMethods: [method, method],
    });
    // Values of the config are not stored.
    expect(readFileSync(harness.file, "utf8")).not.toMatch(/secret-of-mine|PRIVATE|"d"/);
  });

  test("are not sent to another authorization server than before", async () => {
    await open({ clients: [secret] }, { oauth: { ...oauth, clientSecret: "secret-of-mine" } });
    await harness.call();
    await harness.store.update(harness.server(), (record) => ({ ...record!, issuer: "https://example.com" }));
    await server.change({ expireTokens: true });
    expect(await harness.failure(harness.call())).toMatchInlineSnapshot(`
      "AUTH_REQUIRED: Server "far" cannot be used: its authorization server changed from https://example.com to http://HOST
      hint: If this is expected, sign out and sign in again: claudikins auth logout far"
    `);
    expect((await server.stats()).tokenRequests).toEqual({ client_credentials: 1 });
  });

  test("fail with an error that names the config", async () => {
    await open({ clients: [secret] }, { oauth: { ...oauth, clientSecret: "secret-of-others" } });
    expect(await harness.failure(harness.call())).toMatchInlineSnapshot(`
      "AUTH_REQUIRED: Server "far" cannot be used: its sign-in was rejected: invalid_client: the secret is wrong
      hint: Correct "oauth" in its config entry."
    `);
    const { tokenRequests } = await server.stats();
    await harness.failure(harness.call());
    expect((await server.stats()).tokenRequests).toEqual(tokenRequests);
    harness.expectSecrecy(["secret-of-others"]);
    complaints = ["/token: the secret is wrong (invalid_client)"];
  });

  test.each([[{ privateKey: "secret-of-others" }], [{ privateKeyFile: "/nowhere/secret-of-others.pem" }]])(
    "are refused for an invalid key: %j",
    async (proof) => {
      await open({ clients: [key] }, { oauth: { ...oauth, ...proof } });
      expect(await harness.failure(harness.call())).toMatchSnapshot();
      harness.expectSecrecy(["secret-of-others"]);
    },
  );
});

async function* lines(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, undefined> {
  let pending = "";
  for await (const chunk of stream) {
    const parts = (pending + new TextDecoder().decode(chunk)).split("\n");
    pending = parts.pop() ?? "";
    yield* parts;
  }
}
