/** The provider tells `serve --http` that a person has signed out, over the back channel of the package oidc-provider. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import { executeRequest, type HttpServe, httpServe, initialize, json, rawSession } from "../support/http-serve.ts";
import { followed, type OidcFixture, oidcFixture } from "../support/oidc.ts";
import { fixture } from "../support/servers.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(60_000);

const port = freePort();
const page = `http://127.0.0.1:${port}/ui/`;
const backChannel = `${page}back-channel-logout`;
let provider: OidcFixture;
let folder: TemporaryFolder;
let serving: HttpServe | undefined;

beforeAll(async () => {
  provider = await oidcFixture({ ann: { groups: ["qa-team"] }, bob: { groups: ["qa-team"] } }, [`${page}signed-in`]);
});
afterAll(() => provider[Symbol.asyncDispose]());
beforeEach(async () => {
  folder = temporaryFolder();
  folder.write("claudikins.json", {
    mcpServers: { newer: fixture("modern", "reject", folder.path) },
    doors: { qa: { servers: ["newer"] } },
    auth: {
      oidc: {
        issuer: provider.issuer,
        audience: "https://tools.example.com",
        // Everybody who has signed in: only the sign-out takes the door away.
        doors: { qa: ["*"] },
        clientId: "page",
        clientSecret: "page-secret",
      },
    },
  });
  const env = { CLAUDIKINS_LOG: "debug", CLAUDIKINS_DAEMON: "off" };
  serving = await httpServe(folder, [], { token: "kept", port: String(port), env });
});
afterEach(async () => {
  serving?.signal("SIGTERM");
  expect(await serving?.exited).toBe(0);
  serving = undefined;
  folder[Symbol.dispose]();
});

type Cookies = Map<string, string>;

const cookieOf = (cookies: Cookies) => ({ cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; ") });

/** Signs in to the page as a browser with these cookies of the provider does. Returns the cookies of the page. */
async function signedIn(subject: string, atProvider: Cookies): Promise<Cookies> {
  const cookies: Cookies = new Map();
  const ask = (path: string) => fetch(new URL(path, page), { redirect: "manual", headers: cookieOf(cookies) });
  const keep = (response: Response) => {
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    return response;
  };
  const begun = keep(await ask("sign-in"));
  const to = new URL(begun.headers.get("location")!);
  to.searchParams.set("login_hint", subject);
  keep(await ask((await followed(to, ({ href }) => href.startsWith(page), atProvider)).href));
  return cookies;
}

/** Signs out at the provider itself. */
async function signOutAtProvider(cookies: Cookies): Promise<void> {
  const headers = () => cookieOf(cookies);
  const asked = await fetch(`${provider.issuer}/session/end`, { headers: headers() });
  for (const line of asked.headers.getSetCookie()) {
    const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    cookies.set(name, value);
  }
  const [, xsrf = ""] = /name="xsrf" value="(\w+)"/.exec(await asked.text()) ?? [];
  const body = new URLSearchParams({ xsrf, logout: "yes" });
  const init = { method: "POST", body, headers: headers(), redirect: "manual" } as const;
  expect((await fetch(`${provider.issuer}/session/end/confirm`, init)).status).toBeLessThan(400);
}

const stateStatus = async (cookies: Cookies) =>
  (await fetch(`${page}api/state`, { headers: { ...cookieOf(cookies), "sec-fetch-site": "same-origin" } })).status;

async function knock(token: string): Promise<{ status: number; text: string }> {
  const headers = { ...json, authorization: `Bearer ${token}` };
  const init = { method: "POST", body: JSON.stringify(initialize()), headers };
  const response = await fetch(`http://127.0.0.1:${port}/qa`, init);
  return { status: response.status, text: await response.text() };
}

const send = (token: string, init: RequestInit = {}) =>
  fetch(backChannel, { method: "POST", body: new URLSearchParams({ logout_token: token }), ...init });

const event = { "http://schemas.openid.net/event/backchannel-logout": {} };

const now = () => Math.floor(Date.now() / 1_000);

const claims = (more: object = {}) => ({
  iss: provider.issuer,
  aud: "page",
  sub: "ann",
  iat: now(),
  exp: now() + 120,
  jti: crypto.randomUUID(),
  events: event,
  ...more,
});

test("a sign-out at the provider ends the session of the page, and no session of others", async () => {
  provider.backChannel = { uri: backChannel, namesSession: true };
  await provider.rotate();
  const [here, elsewhere, ofBob]: [Cookies, Cookies, Cookies] = [new Map(), new Map(), new Map()];
  const one = await signedIn("ann", here);
  const two = await signedIn("ann", elsewhere);
  const bob = await signedIn("bob", ofBob);
  const token = await provider.token("ann");
  for (const each of [one, two, bob]) expect(await stateStatus(each)).toBe(200);
  await signOutAtProvider(here);
  await eventually(async () => (await stateStatus(one)) === 401);
  expect([await stateStatus(two), await stateStatus(bob)]).toEqual([200, 200]);
  // The token of an agent names no session, and stays.
  expect((await knock(token)).status).toBe(200);
});

test("a sign-out of all sessions also ends the tokens of agents, their open requests, and no later token", async () => {
  provider.backChannel = { uri: backChannel, namesSession: false };
  await provider.rotate();
  const here: Cookies = new Map();
  const cookies = await signedIn("ann", here);
  const [token, ofBob] = [await provider.token("ann"), await provider.token("bob")];
  const session = await rawSession(`http://127.0.0.1:${port}/qa`, "2025-11-25", {}, "agent", {
    authorization: `Bearer ${token}`,
  });
  const open = await session.post(executeRequest(2, "await sleep(60_000)"));
  await signOutAtProvider(here);
  // The request that is open is answered, and its program ends.
  expect(await open.text()).toMatch(/"(?:error|result)"/);
  const { status, text } = await knock(token);
  expect([status, text]).toEqual([401, expect.stringContaining("has signed out since the token was issued")]);
  expect(await stateStatus(cookies)).toBe(401);
  expect((await knock(ofBob)).status).toBe(200);
  await eventually(async () => (await knock(await provider.token("ann"))).status === 200);
});

test("any other token changes nothing", async () => {
  await provider.rotate();
  const token = await provider.token("ann");
  const later = { iat: now() + 1_000 };
  const wrong: [string, Promise<string> | string][] = [
    ["nothing", ""],
    ["no JWT", "hello"],
    ["an access token", token],
    ["another client", provider.forged(claims({ aud: "agent" }))],
    ["no event", provider.forged(claims({ events: undefined }))],
    ["another event", provider.forged(claims({ events: { "http://example.com/other": {} } }))],
    ["an event that is no object", provider.forged(claims({ events: Object.keys(event) }))],
    ["with a nonce", provider.forged(claims({ nonce: "n" }))],
    ["nobody", provider.forged(claims({ sub: undefined, sid: "s" }))],
    ["an old one", provider.forged(claims({ exp: now() - 1_000 }))],
    ["from the future", provider.forged(claims(later))],
    ["another issuer", provider.forged(claims({ iss: "https://login.example.org" }))],
    ["without a signature", `${btoa('{"alg":"none"}')}.${btoa(JSON.stringify(claims()))}.`.replaceAll("=", "")],
  ];
  for (const [what, each] of wrong) {
    const answer = await send(await each);
    const body = (await answer.json()) as { error: string };
    expect([what, answer.status, body.error]).toEqual([what, 400, "invalid_request"]);
    expect(answer.headers.get("cache-control")).toBe("no-store");
  }
  expect((await fetch(backChannel)).status).toBe(405);
  expect((await send("x".repeat(100_000))).status).toBe(413);
  expect((await knock(token)).status).toBe(200);
  // A logout token opens nothing.
  const asAccess = await provider.forged(claims({ aud: "https://tools.example.com", scope: "tools" }));
  expect((await knock(asAccess)).status).toBe(401);
});
