/** What a token allows: what it says itself, at the moment of the use, as far as the newest known token of its person says it too. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { Approvals } from "../../src/policy/approvals/approvals.ts";
import {
  eventsOf,
  executeRequest,
  type HttpServe,
  httpServe,
  initialize,
  json,
  rawSession,
} from "../support/http-serve.ts";
import { modernAnswer } from "../support/modern-host.ts";
import { type OidcFixture, oidcFixture } from "../support/oidc.ts";
import { fixture } from "../support/servers.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(60_000);

const audience = "https://tools.example.com";
const code = 'return await newer.echo({ value: "hello" })';
let provider: OidcFixture;
let folder: TemporaryFolder;
let serving: HttpServe | undefined;
/** When the test began, in seconds since 1970. Tokens of the same age are issued at the same time. */
let begun: number;

beforeAll(async () => {
  provider = await oidcFixture({ ann: { groups: ["qa-team", "leads"] } });
});
afterAll(() => provider[Symbol.asyncDispose]());
beforeEach(() => {
  folder = temporaryFolder();
  begun = Math.floor(Date.now() / 1_000);
  provider.isOpaque = false;
  provider.introspected = {};
});
afterEach(async () => {
  serving?.signal("SIGTERM");
  expect(await serving?.exited).toBe(0);
  serving = undefined;
  folder[Symbol.dispose]();
});

async function start(oidc: object = {}, more: object = {}): Promise<void> {
  folder.write("claudikins.json", {
    mcpServers: { newer: fixture("modern", "reject", folder.path) },
    policy: { confirm: { "newer.echo": "always" } },
    doors: { qa: { servers: ["newer"] }, ops: { servers: [] } },
    auth: {
      oidc: {
        issuer: provider.issuer,
        audience: [audience, "https://other.example.com"],
        clockSkewSeconds: 30,
        doors: { qa: ["qa-team"], ops: ["ops-team"] },
        approvers: ["leads"],
        ...oidc,
      },
    },
    ...more,
  });
  serving = await httpServe(folder, [], { token: "kept", env: { CLAUDIKINS_LOG: "debug", CLAUDIKINS_DAEMON: "off" } });
}

const all = ["qa-team", "leads"];
const at = (path: string) => new URL(path, serving!.url).href;
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

/** Ages of tokens count from here, so that equal ages are equal times. */
const now = Math.floor(Date.now() / 1_000);

/** A token of Ann with these groups, which was issued some seconds ago. */
function tokenOf(groups: unknown, ageSeconds = 0, more: object = {}): Promise<string> {
  const times = { iat: now - ageSeconds, exp: now + 300 };
  return provider.forged({ iss: provider.issuer, aud: audience, sub: "ann", groups, ...times, ...more });
}

async function knock(token: string, path = "/qa"): Promise<number> {
  const body = JSON.stringify(initialize());
  const response = await fetch(at(path), { method: "POST", body, headers: { ...json, ...bearer(token) } });
  await response.text();
  return response.status;
}

const session = (token: string, capabilities = {}) =>
  rawSession(at("/qa"), "2025-11-25", capabilities, "agent", bearer(token));

async function ping(id: string, token: string): Promise<number> {
  const headers = { ...json, ...bearer(token), "mcp-session-id": id };
  const body = JSON.stringify({ jsonrpc: "2.0", id: crypto.randomUUID(), method: "ping" });
  const response = await fetch(at("/qa"), { method: "POST", body, headers });
  await response.text();
  return response.status;
}

describe("the rights of a token", () => {
  test("are never those of another token of the person", async () => {
    await start();
    const whole = await tokenOf(all, 20);
    expect(await knock(whole)).toBe(200);
    // Older ones, newer ones and one of the same second, with no groups, the claim missing or of a wrong type.
    for (const groups of [[], undefined, null, 7, { 0: "qa-team" }, [["qa-team"]], ["QA-TEAM"]])
      for (const age of [25, 20])
        expect([groups, age, await knock(await tokenOf(groups, age))]).toEqual([groups, age, 404]);
    expect(await knock(await tokenOf(["ops-team"], 20), "/ops")).toBe(200);
    expect(await knock(whole, "/ops")).toBe(404);
  });

  test("do not end the sessions of other tokens, unless a newer one shows that they are gone", async () => {
    await start();
    const whole = await tokenOf(all, 20);
    const { id } = await session(whole);
    for (const age of [3_000, 21, 20]) {
      expect(await knock(await tokenOf([], age))).toBe(404);
      expect(await ping(id, whole)).toBe(200);
    }
    // A lesser token of the person cannot use the session either.
    expect(await ping(id, await tokenOf([], 20))).toBe(404);
    expect(await ping(id, whole)).toBe(200);
    expect(await knock(await tokenOf([], 10))).toBe(404);
    expect(await ping(id, whole)).toBe(404);
    expect(await knock(whole)).toBe(404);
    // The groups came back, and the session is not there any more.
    const again = await tokenOf(all, 5);
    expect(await knock(again)).toBe(200);
    expect(await ping(id, again)).toBe(404);
  });

  test("are those that the newest token still has, in whatever order and at whatever door they come", async () => {
    await start();
    // The newest token comes first, at a door that it may not use.
    expect(await knock(await tokenOf(["ops-team"], 5), "/qa")).toBe(404);
    const older = await tokenOf([...all, "ops-team"], 10);
    expect([await knock(older, "/qa"), await knock(older, "/ops")]).toEqual([404, 200]);
    // A group that the person got since is not that of the older token.
    expect(await knock(await tokenOf([...all, "ops-team"], 1))).toBe(200);
    expect(await knock(await tokenOf(["qa-team"], 10), "/ops")).toBe(404);
    expect(await knock(older, "/qa")).toBe(200);
  });

  test("are not changed by tokens that are refused", async () => {
    await start({ scopes: ["tools"] });
    const scope = { scope: "tools" };
    const whole = await tokenOf(all, 20, scope);
    const { id } = await session(whole);
    const refused = [
      await tokenOf([], 5),
      await tokenOf([], 5, { ...scope, aud: "https://stranger.example.com" }),
      await tokenOf([], 5, { ...scope, nonce: "n" }),
      await tokenOf([], 5, { ...scope, exp: begun - 100 }),
      await tokenOf([], -100, scope),
      await tokenOf([], 5, { ...scope, iat: "9999999999" }),
      await tokenOf([], 5, { ...scope, iat: null }),
    ];
    for (const token of refused) expect([401, 403]).toContain(await knock(token));
    expect(await ping(id, whole)).toBe(200);
    // One for the other audience of the config counts.
    expect(await knock(await tokenOf([], 5, { ...scope, aud: "https://other.example.com" }))).toBe(404);
    expect(await ping(id, whole)).toBe(404);
  });

  test("stay taken away in the next process", async () => {
    await start();
    const whole = await tokenOf(all, 20);
    expect(await knock(whole)).toBe(200);
    expect(await knock(await tokenOf([], 10))).toBe(404);
    serving!.signal("SIGTERM");
    expect(await serving!.exited).toBe(0);
    await start();
    expect(await knock(whole)).toBe(404);
  });

  test("in an opaque token without a time take nothing away, and the newest known token takes from them", async () => {
    const client = { clientId: "api", clientSecret: "api-secret" };
    await start({ introspection: client });
    provider.isOpaque = true;
    const opaque = async (groups: string[], more: object) => {
      const token = await provider.token("ann");
      provider.introspected = { groups, ...more };
      const status = await knock(token);
      return { token, status };
    };
    const whole = await tokenOf(all, 20);
    const { id } = await session(whole);
    expect((await opaque([], { iat: undefined })).status).toBe(404);
    expect((await opaque([], { iat: "yesterday" })).status).toBe(404);
    expect(await ping(id, whole)).toBe(200);
    expect((await opaque(all, { iat: undefined })).status).toBe(200);
    expect((await opaque([], { iat: begun + 1_000 })).status).toBe(401);
    expect(await ping(id, whole)).toBe(200);
    expect((await opaque([], { iat: begun - 5 })).status).toBe(404);
    expect(await ping(id, whole)).toBe(404);
    expect((await opaque(all, { iat: undefined })).status).toBe(404);
  });
});

describe("the answer to a question about a call", () => {
  const notApprover = "the person who answered may not approve calls";

  /** Begins a program in a session, answers its question with the token that `answerer` returns, and returns what came of it. */
  async function answered(
    token: string,
    answerer: () => Promise<string>,
    content: object,
    request = executeRequest(2, code),
  ): Promise<string> {
    const { id, post } = await session(token, { elicitation: {} });
    const response = await post(request);
    for await (const { message } of eventsOf(response)) {
      const { method, id: question } = (message ?? {}) as { method?: string; id?: unknown };
      if (message && !method) return JSON.stringify(message);
      if (method === "ping") await post({ jsonrpc: "2.0", id: question, result: {} });
      if (method !== "elicitation/create") continue;
      const headers = { ...json, ...bearer(await answerer()), "mcp-session-id": id };
      const body = JSON.stringify({ jsonrpc: "2.0", id: question, result: content });
      await fetch(at("/qa"), { method: "POST", body, headers });
    }
    throw new Error("the stream ended without an answer");
  }

  const yes = { action: "accept", content: { answer: "once" } };

  test("counts if it comes with a token of an approver", async () => {
    await start();
    expect(await answered(await tokenOf(all, 20), () => tokenOf(all, 10), yes)).toContain("hello");
  });

  test("counts as none if the right was taken away since, or the token that brings it lacks it", async () => {
    await start();
    await using approvals = new Approvals({ env: { XDG_DATA_HOME: join(folder.path, "data") } });
    const whole = await tokenOf(all, 20);
    for (const [groups, content] of [
      [["qa-team"], yes],
      [["qa-team"], { action: "accept", content: { answer: "session" } }],
      [["qa-team"], { action: "decline" }],
    ] as const) {
      const text = await answered(whole, () => tokenOf(groups, 20), content);
      expect(text).not.toContain("hello");
      expect(text).toContain("waits until a person approves or denies");
    }
    // The question waits for an approver, and the no of somebody else is none.
    expect((await approvals.open()).length).toBeGreaterThan(0);
    // Even with the same token, once a newer one was seen.
    const revoking = async () => {
      expect(await knock(await tokenOf(["qa-team"], 10))).toBe(200);
      return whole;
    };
    expect(await answered(whole, revoking, yes)).not.toContain("hello");
    expect(serving!.stderr()).not.toContain(whole);
  });

  test.each([
    [{ wait: false }, `newer.echo needs confirmation, and nobody could be asked: ${notApprover}`],
    [{}, "APPROVAL_PENDING: newer.echo was not called: it waits for approval"],
  ])("does not count in direct mode with the approvals %j", async (approvals, refusal) => {
    await start({}, { mode: "direct", approvals });
    const params = { name: "echo", arguments: { value: "hello" } };
    const call = { jsonrpc: "2.0", id: 2, method: "tools/call", params };
    const whole = await tokenOf(all, 20);
    expect(await answered(whole, async () => whole, yes, call)).toContain("hello");
    for (const content of [yes, { action: "decline" }]) {
      const text = await answered(whole, () => tokenOf([], 20, { groups: ["qa-team"] }), content, call);
      expect(text).toContain(refusal);
    }
  });

  test("counts by the token of the round that brings it, in the revision without sessions", async () => {
    await start();
    const [whole, lesser] = [await tokenOf(all, 20), await tokenOf(["qa-team"], 20)];
    const capabilities = { elicitation: { form: {} } };
    const call = (token: string, more: object = {}) =>
      modernAnswer(at("/qa"), "tools/call", { name: "execute_code", arguments: { code }, ...more }, {
        headers: bearer(token),
        capabilities,
      } as never);
    const asked = async () => {
      const { result } = await call(whole);
      expect(result).toMatchObject({ resultType: "input_required" });
      const { requestState, inputRequests } = result as unknown as { requestState: string; inputRequests: object };
      return { requestState, inputResponses: { [Object.keys(inputRequests)[0]!]: yes } };
    };
    expect(JSON.stringify(await call(whole, await asked()))).toContain("hello");
    // Another agent of the person with the same name is at work with a better token all the time.
    const parked = await asked();
    let isDone = false;
    const busy = (async () => {
      while (!isDone) await modernAnswer(at("/qa"), "tools/list", {}, { headers: bearer(whole) } as never);
    })();
    const text = JSON.stringify(await call(lesser, parked));
    isDone = true;
    await busy;
    expect(text).not.toContain("hello");
    expect(text).toContain("waits until a person approves or denies");
    expect(text).not.toContain(notApprover);
  });
});
