/** People with opaque access tokens: `serve --http` asks the OIDC provider about each token, and seldom twice. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { type HttpServe, httpServe, initialize, json } from "../support/http-serve.ts";
import { type OidcFixture, oidcFixture } from "../support/oidc.ts";
import { bearer } from "../support/person-hosts.ts";
import { fixture } from "../support/servers.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(60_000);

const audience = "https://tools.example.com";
let provider: OidcFixture;
let folder: TemporaryFolder;
let serving: HttpServe | undefined;

beforeAll(async () => {
  provider = await oidcFixture({ ann: { groups: ["qa-team"], email: "ann@example.com" }, eve: { groups: [] } });
  provider.isOpaque = true;
});
afterAll(() => provider[Symbol.asyncDispose]());
beforeEach(() => {
  folder = temporaryFolder();
  provider.introspected = {};
  provider.introspections = 0;
  provider.tokenSeconds = 300;
  provider.isDown = false;
});
afterEach(async () => {
  await stop();
  folder[Symbol.dispose]();
});

async function stop(): Promise<void> {
  serving?.signal("SIGTERM");
  expect(await serving?.exited).toBe(serving && 0);
  serving = undefined;
}

async function start(secret = "api-secret"): Promise<void> {
  folder.write("claudikins.json", {
    mcpServers: { newer: fixture("modern", "reject", folder.path) },
    doors: { qa: { servers: ["newer"] } },
    auth: {
      oidc: {
        issuer: provider.issuer,
        audience,
        scopes: ["tools"],
        clockSkewSeconds: 0,
        doors: { qa: ["qa-team"] },
        introspection: { clientId: "api", clientSecret: "${API_SECRET}" },
      },
    },
  });
  const env = { CLAUDIKINS_LOG: "debug", CLAUDIKINS_DAEMON: "off", API_SECRET: secret };
  serving = await httpServe(folder, [], { token: "kept", env });
}

/** The status and the message of an answer to `initialize`. */
async function knock(token: string): Promise<[status: number, message: string]> {
  const headers = { ...json, ...bearer(token) };
  const body = JSON.stringify(initialize());
  const response = await fetch(new URL("/qa", serving!.url), { method: "POST", body, headers });
  const text = await response.text();
  return [response.status, response.ok ? "" : JSON.parse(text).error.message];
}

const refused = (why: string): [number, string] => [401, `The token is not accepted: ${why}`];

test("lets people in as the answers of the provider say, and asks once for many requests", async () => {
  await start();
  const [ann, eve] = [await provider.token("ann"), await provider.token("eve")];
  expect(ann).not.toContain(".");
  const many = await Promise.all([...Array(8)].map(() => knock(ann)));
  expect(many).toEqual(Array(8).fill([200, ""]));
  expect(provider.introspections).toBe(1);
  // The groups are in the answer too.
  expect((await knock(eve))[0]).toBe(404);
  expect(provider.introspections).toBe(2);
  expect(await knock(await provider.token("ann", { scope: "openid other" }))).toEqual([
    403,
    "The token needs the scopes tools",
  ]);
  // JWTs are verified without a question.
  const now = Math.floor(Date.now() / 1_000);
  const claims = { iss: provider.issuer, aud: audience, sub: "ann", scope: "tools", groups: ["qa-team"], iat: now };
  const asked = provider.introspections;
  expect(await knock(await provider.forged({ ...claims, exp: now + 60 }))).toEqual([200, ""]);
  expect(provider.introspections).toBe(asked);
  for (const secret of [ann, eve, "api-secret"]) expect(serving!.stderr()).not.toContain(secret);
});

test("refuses tokens that are not active, not for this server, or not bearer tokens", async () => {
  await start();
  expect(await knock("an-opaque-token")).toEqual(refused("the provider says that it is not active"));
  const cases: [object, string][] = [
    [{ aud: "https://other.example.com" }, 'its claim "aud" is not as expected'],
    [{ aud: undefined }, 'its claim "aud" is missing'],
    [{ iss: "https://evil.example.com" }, "it is not of the provider of this config"],
    [{ exp: undefined }, 'its claim "exp" is missing'],
    [{ nbf: 4_000_000_000 }, 'its claim "nbf" is not as expected'],
    [{ sub: undefined }, "it names nobody"],
    [{ active: "true" }, "the provider says that it is not active"],
    [{ token_type: "DPoP" }, "it is not a bearer token"],
    [{ cnf: { jkt: "x" } }, "it is not a bearer token"],
  ];
  for (const [change, why] of cases) {
    provider.introspected = change as Record<string, unknown>;
    expect(await knock(await provider.token("ann"))).toEqual(refused(why));
  }
  provider.introspected = { exp: Math.floor(Date.now() / 1_000) - 1 };
  expect(await knock(await provider.token("ann"))).toEqual([401, "The token has expired"]);
  // Some providers leave out who they are, or name several audiences.
  provider.introspected = { iss: undefined, aud: ["https://other.example.com", audience] };
  expect(await knock(await provider.token("ann"))).toEqual([200, ""]);
});

test("refuses tokens that have expired, and tokens that the provider has revoked", async () => {
  provider.tokenSeconds = 2;
  await start();
  const short = await provider.token("ann");
  expect((await knock(short))[0]).toBe(200);
  await Bun.sleep(2_100);
  expect(await knock(short)).toEqual([401, "The token has expired"]);
  expect(provider.introspections).toBe(1);

  provider.tokenSeconds = 300;
  const token = await provider.token("ann");
  const body = new URLSearchParams({ token });
  const headers = { authorization: `Basic ${btoa("agent:agent-secret")}` };
  expect((await fetch(`${provider.issuer}/token/revocation`, { method: "POST", body, headers })).status).toBe(200);
  expect(await knock(token)).toEqual(refused("the provider says that it is not active"));
});

test("answers 503 while the provider cannot be asked, or does not know the client", async () => {
  await start();
  const token = await provider.token("ann");
  // Its metadata are known.
  expect((await knock(await provider.token("ann")))[0]).toBe(200);
  provider.isDown = true;
  const [status, message] = await knock(token);
  expect([status, message]).toEqual([
    503,
    expect.stringContaining(`The sign-in provider ${provider.issuer} cannot be`),
  ]);
  provider.isDown = false;
  // An answer that did not come is not remembered.
  await Bun.sleep(2_100);
  expect((await knock(token))[0]).toBe(200);
  await stop();

  await start("a-wrong-secret");
  expect(await knock(token)).toEqual([
    503,
    `The sign-in provider ${provider.issuer} cannot be used: the introspection of a token was answered with 401: check clientId and clientSecret of auth.oidc.introspection`,
  ]);
  expect(serving!.stderr()).not.toContain("a-wrong-secret");
});
