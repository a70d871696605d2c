/** People who sign in at an OIDC provider: which tokens `serve --http` accepts, what each person sees, and what ends with a person. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { type JWK, SignJWT } from "jose";
import { Approvals } from "../../src/policy/approvals/approvals.ts";
import { personId } from "../../src/policy/people/claims.ts";
import { changePeople } from "../../src/serve/people/access.ts";
import { issueToken } from "../../src/serve/tokens/manage.ts";
import { openStore } from "../../src/store/open.ts";
import { auditLines } from "../support/audit.ts";
import { eventually } from "../support/eventually.ts";
import {
  executeRequest,
  type HttpServe,
  httpServe,
  initialize,
  json,
  rawSession,
  resultText,
  sdkHost,
} from "../support/http-serve.ts";
import { modernAnswer } from "../support/modern-host.ts";
import { type OidcFixture, oidcFixture } from "../support/oidc.ts";
import { fixture } from "../support/servers.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(60_000);

const audience = "https://tools.example.com";
let provider: OidcFixture;
let folder: TemporaryFolder;
let serving: HttpServe | undefined;
let env: Record<string, string>;

beforeAll(async () => {
  provider = await oidcFixture({
    ann: { groups: ["qa-team", "leads"], email: "ann@example.com" },
    bob: { groups: ["qa-team"] },
    eve: { groups: [] },
    root: { groups: ["it"] },
  });
});
afterAll(() => provider[Symbol.asyncDispose]());
beforeEach(() => {
  folder = temporaryFolder();
  env = { XDG_DATA_HOME: join(folder.path, "data") };
  provider.isDown = false;
  provider.tokenSeconds = 300;
});
afterEach(async () => {
  serving?.signal("SIGTERM");
  expect(await serving?.exited).toBe(0);
  serving = undefined;
  folder[Symbol.dispose]();
});

async function start(oidc: object = {}, flags: string[] = [], config: object = {}): Promise<HttpServe> {
  folder.write("claudikins.json", {
    mcpServers: { newer: fixture("modern", "reject", folder.path) },
    doors: { qa: { servers: ["newer"] }, ops: { servers: [] } },
    auth: {
      oidc: {
        issuer: provider.issuer,
        audience,
        scopes: ["tools"],
        clockSkewSeconds: 0,
        doors: { qa: ["qa-team"], mcp: ["it"] },
        administrators: ["it"],
        approvers: ["leads"],
        ...oidc,
      },
    },
    ...config,
  });
  serving = await httpServe(folder, flags, {
    token: "kept",
    env: { CLAUDIKINS_LOG: "debug", CLAUDIKINS_DAEMON: "off" },
  });
  return serving;
}

type Bearer = { authorization: string };
const bearer = (token: string): Bearer => ({ authorization: `Bearer ${token}` });
const at = (path: string) => new URL(path, serving!.url).href;

/** The status, the challenge and the message of an answer to `initialize`. */
async function knock(token: string | undefined, path = "/qa") {
  const headers = { ...json, ...(token === undefined ? {} : bearer(token)) };
  const response = await fetch(at(path), { method: "POST", body: JSON.stringify(initialize()), headers });
  const text = await response.text();
  const challenge = response.headers.get("www-authenticate") ?? "";
  return { status: response.status, challenge, message: response.ok ? "" : JSON.parse(text).error.message };
}

const claims = (more: object = {}) => {
  const now = Math.floor(Date.now() / 1_000);
  const usual = { iss: provider.issuer, aud: audience, sub: "ann", scope: "tools", groups: ["qa-team"], iat: now };
  return { ...usual, exp: now + 60, ...more };
};

const session = (token: string, path = "/qa", name = "agent", capabilities = {}) =>
  rawSession(at(path), "2025-11-25", capabilities, name, bearer(token));

describe("an access token", () => {
  test("lets a person in at the doors of the person's groups", async () => {
    await start();
    const [ann, eve, root] = [await provider.token("ann"), await provider.token("eve"), await provider.token("root")];
    expect((await knock(ann)).status).toBe(200);
    expect((await knock(root, "/mcp")).status).toBe(200);
    const nothing = {
      status: 404,
      challenge: "",
      message: "Nothing is served at this path for you. Your groups may not include it",
    };
    // The same for a door of others, a door without an entry, the whole config, and what does not exist.
    for (const path of ["/mcp", "/ops", "/nope", "/qa/", "/__proto__", "/"])
      expect(await knock(ann, path)).toEqual(nothing);
    for (const path of ["/qa", "/mcp", "/nope"]) expect(await knock(eve, path)).toEqual(nothing);
    const { status } = await modernAnswer(at("/qa"), "tools/list", {}, { headers: bearer(ann) });
    expect(status).toBe(200);
  });

  test("without groups, because they are too many, says so", async () => {
    await start();
    const more = {
      groups: undefined,
      _claim_names: { groups: "src1" },
      _claim_sources: { src1: { endpoint: "https://x" } },
    };
    const { status, message } = await knock(await provider.forged(claims(more)));
    expect([status, message]).toEqual([404, expect.stringContaining("left your groups out of the token")]);
  });

  test("is asked for as OAuth clients expect it", async () => {
    await start();
    const origin = new URL(serving!.url).origin;
    const metadata = `${origin}/.well-known/oauth-protected-resource`;
    const { status, challenge } = await knock(undefined);
    expect(status).toBe(401);
    expect(challenge).toBe(`Bearer realm="claudikins", resource_metadata="${metadata}/qa", scope="tools"`);
    const read = async (path: string) => {
      const response = await fetch(`${metadata}${path}`);
      return response.ok ? await response.json() : response.status;
    };
    const common = { authorization_servers: [provider.issuer], bearer_methods_supported: ["header"] };
    const more = { ...common, scopes_supported: ["tools"], resource_name: "claudikins" };
    expect(await read("")).toEqual({ resource: origin, ...more });
    expect(await read("/mcp")).toEqual({ resource: `${origin}/mcp`, ...more });
    // A door that does not exist looks like one that does.
    for (const door of ["qa", "nope"])
      expect(await read(`/${door}`)).toEqual({ resource: `${origin}/${door}`, ...more });
    expect(await read("/a/b")).toBe(401);
  });

  test("is refused if it is not exactly what the config asks for", async () => {
    await start();
    const now = Math.floor(Date.now() / 1_000);
    const [jwk] = (await provider.keys()) as [JWK];
    const publicKey = new TextEncoder().encode(JSON.stringify(jwk));
    const none = [{ alg: "none" }, claims()].map((each) => Buffer.from(JSON.stringify(each)).toString("base64url"));
    const { privateKey } = await crypto.subtle.generateKey(
      { name: "RSASSA-PKCS1-v1_5", modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: "SHA-256" },
      true,
      ["sign", "verify"],
    );
    const cases: [string, string][] = [
      ["its signature algorithm is not allowed", `${none.join(".")}.`],
      [
        "its signature algorithm is not allowed",
        await new SignJWT(claims()).setProtectedHeader({ alg: "HS256" }).sign(publicKey),
      ],
      [
        "its signature does not verify",
        await new SignJWT(claims()).setProtectedHeader({ alg: "RS256", kid: jwk.kid! }).sign(privateKey),
      ],
      ['its claim "aud" is not as expected', await provider.token("ann", { audience: "https://other.example.com" })],
      ["it is not of the provider of this config", await provider.forged(claims({ iss: "https://evil.example.com" }))],
      ['its claim "nbf" is not as expected', await provider.forged(claims({ nbf: now + 100 }))],
      ["it was issued in the future", await provider.forged(claims({ iat: now + 100, exp: now + 200 }))],
      ['its claim "exp" is missing', await provider.forged(claims({ exp: undefined }))],
      ['its claim "iat" is missing', await provider.forged(claims({ iat: undefined }))],
      ['its claim "sub" is missing', await provider.forged(claims({ sub: undefined }))],
      ["this is an ID token: send the access token", await provider.forged(claims({ nonce: "n" }))],
    ];
    for (const [why, token] of cases) {
      const { status, challenge, message } = await knock(token);
      expect([status, message]).toEqual([401, `The token is not accepted: ${why}`]);
      expect(challenge).toContain('error="invalid_token", resource_metadata="');
    }
    expect((await knock(await provider.forged(claims({ exp: now - 1 })))).message).toBe("The token has expired");
    const opaque = await knock("an-opaque-token");
    expect([opaque.status, opaque.message]).toEqual([
      401,
      "The token is wrong. An access token of the sign-in provider must be a JWT",
    ]);
    // The same token with nothing wrong.
    expect((await knock(await provider.forged(claims()))).status).toBe(200);
    expect(serving!.stderr()).not.toContain(none[1]!);
  });

  test("needs the scopes of the config", async () => {
    await start();
    const { status, challenge, message } = await knock(await provider.token("ann", { scope: "openid other" }));
    expect([status, message]).toEqual([403, "The token needs the scopes tools"]);
    expect(challenge).toContain('error="insufficient_scope", resource_metadata="');
    expect(challenge).toContain('scope="tools"');
    expect((await knock(await provider.forged(claims({ scope: undefined, scp: ["tools"] })))).status).toBe(200);
  });

  test("may be off by the allowed difference of the clocks", async () => {
    await start({ clockSkewSeconds: 30 });
    const now = Math.floor(Date.now() / 1_000);
    expect((await knock(await provider.forged(claims({ exp: now - 10 })))).status).toBe(200);
    expect((await knock(await provider.forged(claims({ iat: now + 10, nbf: now + 10 })))).status).toBe(200);
    expect((await knock(await provider.forged(claims({ exp: now - 40 })))).status).toBe(401);
  });

  test("is verified with the provider's new key after a rotation, and few requests", async () => {
    await start();
    const before = await provider.token("ann");
    expect((await knock(before)).status).toBe(200);
    await provider.rotate();
    provider.keyRequests = 0;
    const after = await provider.token("ann");
    // The first request with it is answered.
    expect((await knock(after)).status).toBe(200);
    expect(provider.keyRequests).toBe(1);
    expect((await knock(before)).status).toBe(401);
  });

  test("with an unknown key does not keep out the provider's new key, and many make few requests", async () => {
    await start();
    expect((await knock(await provider.token("ann"))).status).toBe(200);
    const forged = (index: number) => provider.forged(claims(), { kid: `unknown-${index}` });
    // Somebody has just sent tokens with unknown keys, and sends more while the key is new.
    expect((await knock(await forged(0))).status).toBe(401);
    await provider.rotate();
    provider.keyRequests = 0;
    const begunAt = performance.now();
    let isOver = false;
    const flood = Array.from({ length: 20 }, async (_, place) => {
      for (let round = 1; !isOver; round += 1) {
        expect((await knock(await forged(place * 1_000 + round))).status).toBe(401);
      }
    });
    for (let times = 0; times < 3; times += 1) {
      expect((await knock(await provider.token("ann"))).status).toBe(200);
      await provider.rotate();
      expect((await knock(await provider.token("bob"))).status).toBe(200);
    }
    isOver = true;
    await Promise.all(flood);
    const seconds = (performance.now() - begunAt) / 1_000;
    // One at once, and one each second.
    expect(provider.keyRequests).toBeLessThanOrEqual(Math.ceil(seconds) + 1);
    expect(provider.keyRequests).toBeGreaterThan(0);
  });

  test("gets the answer 503 and not 401 while the provider is down", async () => {
    const token = await provider.token("ann");
    provider.isDown = true;
    await start();
    const { status, challenge, message } = await knock(token);
    expect([status, challenge]).toEqual([503, ""]);
    expect(message).toStartWith(`The sign-in provider ${provider.issuer} cannot be used: `);
    provider.isDown = false;
    await eventually(async () => (await knock(token)).status === 200, { withinMs: 10_000, everyMs: 200 });
    // The known keys are enough for the next tokens.
    provider.isDown = true;
    expect((await knock(token)).status).toBe(200);
  });

  test("leaves tokens of doors and the fixed token as they are", async () => {
    folder.write("token", "a-fixed-token-of-some-length-1234567890");
    await start({}, ["--token-file", "token"]);
    expect((await knock("a-fixed-token-of-some-length-1234567890", "/mcp")).status).toBe(200);
    const config = join(folder.path, "claudikins.json");
    const { token } = await issueToken({ config, door: "ops" }, env);
    expect((await knock(token, "/ops")).status).toBe(200);
    expect((await knock(token, "/qa")).status).toBe(404);
  });

  test("for the address of a door is enough, if the config says where the server is", async () => {
    await start({ address: "https://tools.company.example" });
    const inside = { host: "tools.company.example" };
    const request = async (path: string, aud: string) => {
      const token = await provider.forged(claims({ aud, groups: ["qa-team", "it"] }));
      const headers = { ...json, ...bearer(token), ...inside };
      return (await fetch(at(path), { method: "POST", body: JSON.stringify(initialize()), headers })).status;
    };
    expect(await request("/qa", "https://tools.company.example/qa")).toBe(200);
    expect(await request("/mcp", "https://tools.company.example/qa")).toBe(401);
    const found = await fetch(at("/.well-known/oauth-protected-resource/qa"), { headers: inside });
    expect(await found.json()).toMatchObject({ resource: "https://tools.company.example/qa" });
  });
});

describe("a person", () => {
  test("has sessions, executions and files that no other person sees", async () => {
    await start();
    const [ann, bob] = [await provider.token("ann"), await provider.token("bob")];
    const [anns, bobs] = [await session(ann), await session(bob)];
    const write = 'await fs.writeFile("./workspace/secret.txt", "of Ann"); return "written"';
    expect(await resultText(await anns.post(executeRequest(2, write)))).toContain("written");
    const read = 'return await fs.readFile("./workspace/secret.txt", "utf8").catch((error) => error.code)';
    expect(await resultText(await bobs.post(executeRequest(2, read)))).toContain("ENOENT");
    // Another agent of the same person, with a newer token, has the same files.
    const again = await session(await provider.token("ann"), "/qa", "another agent");
    expect(await resultText(await again.post(executeRequest(2, read)))).toContain("of Ann");
    // Another person has no use for the id of a session or of an execution.
    const stolen = await fetch(at("/qa"), {
      method: "POST",
      body: JSON.stringify(executeRequest(3, read)),
      headers: { ...json, ...bearer(bob), "mcp-session-id": anns.id },
    });
    expect(stolen.status).toBe(404);
    const text = await resultText(
      await anns.post({
        jsonrpc: "2.0",
        id: 4,
        method: "tools/call",
        params: {
          name: "execute_code",
          arguments: { code: "await new Promise((done) => setTimeout(done, 20000))", background: true },
        },
      }),
    );
    const [, id] = /execution (\S+) /.exec(text) ?? [];
    const resume = {
      jsonrpc: "2.0",
      id: 5,
      method: "tools/call",
      params: { name: "execute_code", arguments: { resume: id } },
    };
    expect(await resultText(await bobs.post(resume))).toContain(`There is no execution "${id}"`);
  });

  test("has parked requests and tasks that no other person can continue, in the revision without sessions", async () => {
    await start();
    const [ann, bob] = [bearer(await provider.token("ann")), bearer(await provider.token("bob"))];
    const capabilities = { elicitation: { form: {} } };
    const args = { name: "execute_code", arguments: { code: "return await newer.greet({})" } };
    const call = (headers: Bearer, more: object, params: object = {}) =>
      modernAnswer(at("/qa"), "tools/call", { ...args, ...params }, { headers, ...more } as never);
    const parked = await call(ann, { capabilities });
    expect(parked.result).toMatchObject({ resultType: "input_required" });
    const { requestState, inputRequests } = parked.result as { requestState: string; inputRequests: object };
    const [key = ""] = Object.keys(inputRequests);
    const answer = { requestState, inputResponses: { [key]: { action: "accept", content: { name: "Eve" } } } };
    const stolen = await call(bob, { capabilities }, answer);
    expect(JSON.stringify(stolen)).not.toContain("hello");
    expect(stolen.error).toBeDefined();
    const own = await call(ann, { capabilities }, answer);
    expect(JSON.stringify(own.result)).toContain("hello Eve");

    const withTasks = { ...capabilities, extensions: { "io.modelcontextprotocol/tasks": {} } };
    const task = await call(ann, { capabilities: withTasks });
    expect(task.result).toMatchObject({ resultType: "task" });
    const { taskId } = task.result as unknown as { taskId: string };
    const get = (headers: Bearer) =>
      modernAnswer(at("/qa"), "tasks/get", { taskId }, { headers, capabilities: withTasks } as never);
    expect((await get(bob)).error).toBeDefined();
    expect((await get(ann)).result).toMatchObject({ taskId, status: "input_required" });
    const end = { headers: ann, capabilities: withTasks };
    expect((await modernAnswer(at("/qa"), "tasks/cancel", { taskId }, end as never)).error).toBeUndefined();
  });

  test("keeps sessions while newer tokens come, and loses them when the newest has expired", async () => {
    await start();
    provider.tokenSeconds = 3;
    const first = await session(await provider.token("ann"));
    provider.tokenSeconds = 7;
    const token = await provider.token("ann");
    const ask = { ...json, ...bearer(token), "mcp-session-id": first.id };
    const ping = () =>
      fetch(at("/qa"), {
        method: "POST",
        headers: ask,
        body: JSON.stringify({ jsonrpc: "2.0", id: 9, method: "ping" }),
      });
    expect((await ping()).status).toBe(200);
    // The first token has expired meanwhile.
    await Bun.sleep(4_000);
    expect((await ping()).status).toBe(200);
    const listening = fetch(at("/qa"), { headers: { ...ask, accept: "text/event-stream" } }).then((each) =>
      each.text(),
    );
    await eventually(async () => (await ping()).status === 401, { withinMs: 10_000, everyMs: 200 });
    await listening;
    provider.tokenSeconds = 300;
    const fresh = { ...ask, ...bearer(await provider.token("ann")) };
    const after = await fetch(at("/qa"), {
      method: "POST",
      headers: fresh,
      body: JSON.stringify({ jsonrpc: "2.0", id: 9, method: "ping" }),
    });
    expect(after.status).toBe(404);
  });

  test("is refused within a second of being revoked, with sessions and programs", async () => {
    await start();
    const token = await provider.token("ann");
    const anns = await session(token);
    const code = "await new Promise((done) => setTimeout(done, 60000))";
    const call = { name: "execute_code", arguments: { code, background: true, timeout_ms: 90_000 } };
    await resultText(await anns.post({ jsonrpc: "2.0", id: 4, method: "tools/call", params: call }));
    await using store = openStore(env);
    const config = join(folder.path, "claudikins.json");
    const id = personId(provider.issuer, "ann");
    const people = await store.people.list(config);
    expect(people).toMatchObject([
      { id, name: "ann@example.com", email: "ann@example.com", doors: ["qa"], revokedAt: null },
    ]);
    const revokedAt = performance.now();
    expect(await changePeople(people, "revoked", env)).toMatchObject([{ id }]);
    expect(await changePeople([{ ...people![0]!, revokedAt: 1 }], "revoked", env)).toEqual([]);
    expect(await knock(token)).toMatchObject({
      status: 403,
      message: "An administrator has revoked the access of ann@example.com",
    });
    const states = async () => (await store.executions.list()).map(({ state }) => state);
    await eventually(async () => Bun.deepEquals(await states(), ["ended"]));
    expect(performance.now() - revokedAt).toBeLessThan(3_000);
    expect(await changePeople([{ ...people![0]!, revokedAt: 1 }], "restored", env)).toMatchObject([{ id }]);
    expect((await knock(token)).status).toBe(200);
    const entries = auditLines(env);
    expect(entries).toMatchObject([
      { decision: "revoked", person: { id, name: "ann@example.com" }, by: { place: "command" } },
      { decision: "restored", person: { id, name: "ann@example.com" }, by: { place: "command" } },
    ]);
  });
});

describe("a call that needs a confirmation", () => {
  const confirming = { policy: { confirm: { "newer.echo": "always" } } };
  const code = 'return await newer.echo({ value: "hello" })';
  const asked: string[] = [];
  const host = async (subject: string) => {
    const headers = bearer(await provider.token(subject));
    const prepare = (client: Client) =>
      client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
        asked.push(`${subject}: ${params.message}`);
        return { action: "accept" as const, content: { answer: "once" } };
      });
    return sdkHost(at("/qa"), { elicitation: {} }, { prepare, headers });
  };

  test("is approved in the agent of an approver only, and waits for one otherwise", async () => {
    await start({}, [], confirming);
    await using approvals = new Approvals({ env });
    await using anns = await host("ann");
    expect(await anns.execute(code)).toBe("hello");
    expect(asked.map((each) => each.split("\n")[0])).toEqual(["ann: Allow the call to newer.echo?"]);

    await using bobs = await host("bob");
    const text = await bobs.execute(code);
    expect(text).toContain("waits until a person approves or denies");
    expect(text).toContain("Tell the user that these may approve it: the people in leads.");
    expect(asked).toHaveLength(1);
    const [open] = await approvals.open();
    expect(open).toMatchObject({ door: "qa", person: personId(provider.issuer, "bob"), personName: "bob" });
    // The agent of another person cannot ask for it, even that of an approver.
    const resume = { name: "execute_code", arguments: { resume: open!.execution } };
    const foreign = await anns.client.callTool(resume);
    expect(JSON.stringify(foreign.content)).toContain("There is no execution");
    await approvals.decide(open!.id, { state: "approved", scope: "once", by: "page" }, { id: "a1", name: "ann" });
    const { content } = await bobs.client.callTool(resume);
    expect(JSON.stringify(content)).toContain("hello");

    const entries = auditLines(env);
    const ann = { id: personId(provider.issuer, "ann"), name: "ann@example.com" };
    expect(entries).toMatchObject([
      { decision: "approved", person: ann, by: { place: "agent", person: ann } },
      { decision: "approved", person: { name: "bob" }, by: { place: "page", person: { name: "ann" } } },
    ]);
  });

  test("waits for the same person in the next process", async () => {
    await start({}, [], confirming);
    const bobs = await session(await provider.token("bob"), "/qa", "host");
    const write = 'await fs.writeFile("./workspace/mine.txt", "kept"); ';
    const more = 'return [await newer.echo({ value: "hello" }), await fs.readFile("./workspace/mine.txt", "utf8")]';
    const text = await resultText(await bobs.post(executeRequest(2, write + more)));
    const [, id] = /The execution (\S+) waits/.exec(text) ?? [];
    serving!.signal("SIGTERM");
    expect(await serving!.exited).toBe(0);
    await start({}, [], confirming);
    await using approvals = new Approvals({ env });
    const [open] = await approvals.open();
    await approvals.decide(open!.id, { state: "approved", scope: "once", by: "command" });
    const params = { name: "execute_code", arguments: { resume: id } };
    const resume = { jsonrpc: "2.0", id: 3, method: "tools/call", params };
    const anns = await session(await provider.token("ann"), "/qa", "host");
    expect(await resultText(await anns.post(resume))).toContain("There is no execution");
    const again = await session(await provider.token("bob"), "/qa", "host");
    const outcome = await resultText(await again.post(resume));
    expect(outcome).toContain("hello");
    expect(outcome).toContain("kept");
  });
});
