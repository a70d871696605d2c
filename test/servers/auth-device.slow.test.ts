/** Sign-ins by device code (RFC 8628) at the package oidc-provider. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { ElicitResult } from "@modelcontextprotocol/client";
import { beginDeviceSignIn } from "../../src/servers/auth/sign-in.ts";
import type { Responder } from "../../src/servers/connection/responder.ts";
import { type DeviceProvider, deviceProvider } from "../support/device-provider.ts";
import { eventually } from "../support/eventually.ts";
import { oauthFixture } from "../support/oauth.ts";
import { AuthHarness, serverOf } from "./auth-harness.ts";

setDefaultTimeout(60_000);

let provider: DeviceProvider;
let harness: AuthHarness;
beforeEach(async () => {
  provider = await deviceProvider();
  harness = new AuthHarness({ far: { url: provider.url } });
});
afterEach(async () => {
  await harness[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});

async function begin(signal = AbortSignal.timeout(30_000)) {
  const begun = await beginDeviceSignIn(harness.server(), harness.store, { env: {}, signal });
  if (typeof begun !== "object") throw new Error(`no code: ${begun}`);
  return begun;
}

test("a person who enters the code is signed in, and the sign-in is refreshed without the person", async () => {
  const begun = await begin();
  expect(begun.userCode).toMatch(/^[A-Z]{4}-[A-Z]{4}$/);
  expect(begun.completePage?.href).toBe(`${begun.page.href}?user_code=${begun.userCode}`);
  await Promise.all([begun.finish(), provider.enter(begun.userCode)]);
  expect(await harness.call("echo", { a: 1 })).toEqual({ a: 1 });
  provider.expireTokens();
  expect(await harness.call("echo", { a: 2 })).toEqual({ a: 2 });
  expect(provider.grants.at(-1)).toBe("refresh_token");
  const again = await begin();
  await Promise.all([again.finish(), provider.enter(again.userCode)]);
  expect(provider.registrations).toBe(1);
});

test("a person who refuses is not signed in", async () => {
  const begun = await begin();
  await provider.enter(begun.userCode, "refuse");
  expect(await harness.failure(begun.finish())).toMatchInlineSnapshot(`
    "AUTH_REQUIRED: Cannot sign in to server "far": its authorization server refused the sign-in: access_denied: End-User aborted interaction
    hint: Start again: claudikins auth login far"
  `);
});

test("a code that nobody enters ends", async () => {
  provider.codeSeconds = 1;
  const begun = await begin();
  expect(await harness.failure(begun.finish())).toMatchInlineSnapshot(`
    "AUTH_REQUIRED: Cannot sign in to server "far": nobody entered the code in time
    hint: Start again: claudikins auth login far"
  `);
});

test("an authorization server that is away for a moment, or wants to be asked less often, gives the tokens later", async () => {
  Object.assign(provider, { failures: 1, slowDowns: 1 });
  const begun = await begin();
  const finished = begun.finish();
  await eventually(() => provider.failures < 1 && provider.slowDowns < 1);
  await provider.enter(begun.userCode);
  await finished;
  expect(await harness.call("echo", { a: 1 })).toEqual({ a: 1 });
});

test("a sign-in that is given up stops asking", async () => {
  const ended = new AbortController();
  const begun = await begin(ended.signal);
  const finished = harness.failure(begun.finish());
  ended.abort();
  expect(await finished).toStartWith("CANCELLED: ");
});

describe("a call in the middle of a program", () => {
  type Params = Parameters<NonNullable<Responder["elicit"]>>[0];
  type Asked = Parameters<NonNullable<Responder["elicit"]>>[1];
  const asked: Params[] = [];
  const codeIn = ({ message }: Params) => /the code (\S+) there/.exec(message)?.[1] ?? "";

  /** Opens a pool whose agent answers questions in this way. */
  async function open(
    kinds: NonNullable<Responder["capabilities"]["elicitation"]>,
    answer: (params: Params, asked: Asked) => Promise<object>,
  ): Promise<void> {
    await harness[Symbol.asyncDispose]();
    asked.length = 0;
    const responder: Responder = {
      capabilities: { elicitation: kinds },
      elicit: async (params: Params, context: Asked) => {
        asked.push(params);
        return (await answer(params, context)) as ElicitResult;
      },
    };
    harness = new AuthHarness({ far: { url: provider.url } }, { asksToSignIn: true });
    harness.pool.setHost({ responder });
  }
  const agree = async (params: Params) => {
    await provider.enter(codeIn(params));
    return { action: "accept", content: {} };
  };

  test("asks with the code, once for all calls, and is made when the person has entered it", async () => {
    await open({ url: {} }, agree);
    const calls = [1, 2, 3].map((a) => harness.call("echo", { a }));
    expect(await Promise.all(calls)).toEqual([{ a: 1 }, { a: 2 }, { a: 3 }]);
    const page = `${new URL(provider.url).origin}/device`;
    const [{ message, ...params }] = asked as [Params];
    const code = codeIn({ message, ...params } as Params);
    expect(message).toBe(
      `[far] Sign in to use far: open ${page} in a browser on any machine, and enter the code ${code} there.`,
    );
    expect(params).toMatchObject({
      mode: "url",
      url: `${page}?user_code=${code}`,
      _meta: { "claudikins/server": "far" },
    });
    expect(asked).toHaveLength(1);
  });

  test("asks with a form if the agent shows no pages", async () => {
    await open({ form: {} }, agree);
    expect(await harness.call("echo", { a: 1 })).toEqual({ a: 1 });
    expect(asked).toMatchObject([{ mode: "form", requestedSchema: { type: "object", properties: {} } }]);
  });

  test("is made when the person has entered the code, and takes the question back if it is still open", async () => {
    const withdrawn = Promise.withResolvers<void>();
    await open({ form: {} }, async (params, { signal }) => {
      signal.addEventListener("abort", () => withdrawn.resolve());
      await agree(params);
      return new Promise(() => {});
    });
    expect(await harness.call("echo", { a: 1 })).toEqual({ a: 1 });
    await withdrawn.promise;
  });

  test.each(["decline", "cancel"])("fails with the command if the person answers %s", async (action) => {
    await open({ form: {} }, async () => ({ action }));
    expect(await harness.failure(harness.call())).toEndWith("hint: claudikins auth login far");
  });

  test("fails with the command if the agent can ask nobody, or is not the user's own", async () => {
    await harness[Symbol.asyncDispose]();
    harness = new AuthHarness({ far: { url: provider.url } }, { asksToSignIn: true });
    expect(await harness.failure(harness.call())).toEndWith("hint: claudikins auth login far");
    await open({ form: {} }, agree);
    const { responder } = harness.pool.host;
    await using shared = new AuthHarness({ far: { url: provider.url } });
    shared.pool.setHost({ responder });
    expect(await shared.failure(shared.call())).toEndWith("hint: claudikins auth login far");
    expect(asked).toEqual([]);
  });

  test("asks nobody if the authorization server has no device codes", async () => {
    provider.isOffered = false;
    await open({ form: {} }, agree);
    expect(await harness.failure(harness.call())).toEndWith("hint: claudikins auth login far");
    expect(asked).toEqual([]);
  });
});

test("an authorization server without device codes says so before a client is registered", async () => {
  await using server = await oauthFixture();
  const options = { env: {}, signal: AbortSignal.timeout(30_000) };
  expect(await beginDeviceSignIn(serverOf("far", { url: server.url }), harness.store, options)).toBe("not offered");
  expect((await server.stats()).registrations).toBe(0);
});
