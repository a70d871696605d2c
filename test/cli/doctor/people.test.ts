/** doctor: the provider at which people sign in. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { chmodSync } from "node:fs";
import { type OidcFixture, oidcFixture } from "../../support/oidc.ts";
import { patient } from "./patient.ts";

const home = patient();
let provider: OidcFixture;

beforeAll(async () => {
  provider = await oidcFixture({});
});
afterAll(() => provider[Symbol.asyncDispose]());
beforeEach(() => {
  provider.aheadMs = 0;
  provider.isDown = false;
});

/** The findings about people, by their ids, and the exit code. */
async function findingsWith(oidc: object = {}, env: Record<string, string> = {}) {
  const usual = { issuer: provider.issuer, audience: "https://tools.example.com", doors: { mcp: ["it"] } };
  home.configure({}, { auth: { oidc: { ...usual, ...oidc } } });
  const { findings, exitCode } = await home.doctor(undefined, { env });
  const about = findings.filter(({ id }) => id.startsWith("people."));
  return { exitCode, found: Object.fromEntries(about.map(({ id, area: _, ...rest }) => [id, rest])) };
}

test("a provider that can be used has metadata, keys and the right time", async () => {
  const asking = { introspection: { clientId: "api", clientSecret: "api-secret" } };
  const { exitCode, found } = await findingsWith({ clientId: "page", ...asking });
  expect(exitCode).toBe(0);
  expect(found).toEqual({
    "people.audience": { state: "ok", message: "Access tokens must be for https://tools.example.com" },
    "people.provider": {
      state: "ok",
      message: `People sign in at ${provider.issuer}, which answers with its metadata`,
    },
    "people.keys": { state: "ok", message: "The provider has 1 key for signatures" },
    "people.clock": { state: "ok", message: "The clocks of the provider and of this machine differ by less than 10 s" },
    "people.groups": { state: "ok", message: 'The groups of people are in the claim "groups"' },
  });
  expect((await findingsWith({ groups: "realm_access.roles" })).found["people.groups"]).toEqual({
    state: "ok",
    message:
      'The groups of people are in the claim "realm_access.roles", which the provider does not list: look for it in a token',
  });
});

test("a provider that does not answer, or has another issuer, is a problem", async () => {
  provider.isDown = true;
  const down = await findingsWith();
  expect(down.exitCode).toBe(4);
  expect(down.found["people.provider"]).toMatchObject({ state: "problem", code: "SERVER_UNAVAILABLE" });
  expect(down.found["people.keys"]).toBeUndefined();
  provider.isDown = false;
  const other = await findingsWith({ issuer: `${provider.issuer}/` });
  expect(other.found["people.provider"]).toEqual({
    state: "problem",
    message: `The sign-in provider ${provider.issuer}/ cannot be used: the issuer in ${provider.issuer}/.well-known/openid-configuration is not exactly "${provider.issuer}/", as in the config`,
    repair: 'Compare "issuer" in auth.oidc with the provider, and check that this machine can reach it',
    code: "SERVER_UNAVAILABLE",
  });
});

test.each([
  [130_000, "behind"],
  [-130_000, "ahead of"],
])("a clock that differs by %d ms is a warning, unless the config allows it", async (aheadMs, which) => {
  provider.aheadMs = aheadMs;
  const { exitCode, found } = await findingsWith();
  expect(exitCode).toBe(0);
  expect(found["people.clock"]?.state).toBe("warning");
  const message = new RegExp(
    `^The clock of this machine is (?:129|130|131) s ${which} the provider's, and 10 s are allowed$`,
  );
  expect(found["people.clock"]?.message).toMatch(message);
  expect((await findingsWith({ clockSkewSeconds: 200 })).found["people.clock"]?.state).toBe("ok");
});

test("settings that let nobody in are found without the provider", async () => {
  const { exitCode, found } = await findingsWith({ audience: "${AUDIENCE}", doors: {} }, { AUDIENCE: "" });
  expect(exitCode).toBe(2);
  expect(found["people.audience"]).toMatchObject({
    state: "problem",
    message: 'An "audience" in auth.oidc is empty',
  });
  expect(found["people.doors"]).toMatchObject({
    state: "warning",
    message: 'Nobody who signs in may use anything: "doors" in auth.oidc has no groups',
  });
  const missing = await findingsWith({ clientId: "page", clientSecret: "${PAGE_SECRET}" });
  expect(missing.found["people.settings"]).toMatchObject({
    state: "problem",
    code: "NEEDS_VARIABLE",
    message: "auth.oidc needs PAGE_SECRET in the environment",
  });
});

test("the address of an exchange is not taken for a secret", async () => {
  const exchange = { tokenUrl: "https://login.example.com/token", audience: "orders", clientId: "c" };
  const entry = { url: "https://orders.example.com/mcp", credentials: "exchange" };
  const oidc = { issuer: provider.issuer, audience: "a" };
  const rightsWith = async (clientSecret: string) => {
    chmodSync(
      home.configure({ orders: { ...entry, exchange: { ...exchange, clientSecret } } }, { auth: { oidc } }),
      0o644,
    );
    return (await home.doctor(undefined, { env: { SECRET: "s", CLAUDIKINS_SEALING_KEY: "k" } })).of("config.rights");
  };
  expect(await rightsWith("${SECRET}")).toBeUndefined();
  expect((await rightsWith("a-plain-secret"))?.state).toBe("warning");
});
