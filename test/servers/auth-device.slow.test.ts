/** Sign-ins by device code (RFC 8628) at the package oidc-provider. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { beginDeviceSignIn } from "../../src/servers/auth/sign-in.ts";
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

test("an authorization server without device codes says so before a client is registered", async () => {
  await using server = await oauthFixture();
  const options = { env: {}, signal: AbortSignal.timeout(30_000) };
  expect(await beginDeviceSignIn(serverOf("far", { url: server.url }), harness.store, options)).toBe("not offered");
  expect((await server.stats()).registrations).toBe(0);
});
