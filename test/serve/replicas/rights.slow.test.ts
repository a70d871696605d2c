/** Replicas know together which rights the newest token of a person has: an older token has no more at any of them. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { eventually } from "../../support/eventually.ts";
import { initialize, json, rawSession } from "../../support/http-serve.ts";
import { followed, type OidcFixture, oidcFixture } from "../../support/oidc.ts";
import { ownFolder } from "../../support/own-folder.ts";
import { type PostgresFixture, postgresFixture, postgresNote } from "../../support/postgres.ts";
import { openReplicas } from "../../support/replicas.ts";
import { fixture } from "../../support/servers.ts";

setDefaultTimeout(120_000);

const folder = ownFolder();
const audience = "https://tools.example.com";
const all = ["qa-team", "leads", "it"];
/** When the tests began, in seconds since 1970. Tokens of the same age are issued at the same time. */
const begunAt = Math.floor(Date.now() / 1_000);

describe.skipIf(postgresNote !== "")(`the rights of people at replicas${postgresNote}`, () => {
  let server: PostgresFixture;
  let provider: OidcFixture;
  beforeAll(async () => {
    server = await postgresFixture();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const tokenOf = (groups: string[], ageSeconds: number, sub = "ann") => {
    const iat = begunAt - ageSeconds;
    return provider.forged({ iss: provider.issuer, aud: audience, sub, groups, iat, exp: begunAt + 600 });
  };

  async function knock(url: string, token: string): Promise<number> {
    const headers = { ...json, authorization: `Bearer ${token}` };
    const response = await fetch(url, { method: "POST", body: JSON.stringify(initialize()), headers });
    await response.text();
    return response.status;
  }

  async function open(origin: string | undefined) {
    folder.write("claudikins.json", {
      mcpServers: { newer: fixture("modern", "reject", folder.path) },
      auth: {
        oidc: {
          issuer: provider.issuer,
          audience,
          doors: { mcp: ["qa-team"] },
          approvers: ["leads"],
          administrators: ["it"],
          ...(origin === undefined ? {} : { address: origin, clientId: "page", clientSecret: "page-secret" }),
        },
      },
    });
    return openReplicas(folder, server, 2, { token: "kept" });
  }

  test("go at all of them at once when a newer token without them comes to one", async () => {
    await using own = await oidcFixture({});
    provider = own;
    await using set = await open(undefined);
    const [one, other] = set.all.map(({ url }) => url) as [string, string];
    const whole = await tokenOf(all, 20);
    const { id } = await rawSession(other, "2025-11-25", {}, "agent", { authorization: `Bearer ${whole}` });
    const ping = async (url: string) => {
      const headers = { ...json, authorization: `Bearer ${whole}`, "mcp-session-id": id };
      const body = JSON.stringify({ jsonrpc: "2.0", id: crypto.randomUUID(), method: "ping" });
      const response = await fetch(url, { method: "POST", body, headers });
      await response.text();
      return response.status;
    };
    // An older token, one of the same time, and one of another person take nothing away.
    for (const lesser of [await tokenOf([], 30), await tokenOf([], 20), await tokenOf([], 1, "bob")]) {
      expect(await knock(one, lesser)).toBe(404);
      expect([await ping(other), await ping(one)]).toEqual([200, 200]);
    }
    expect(await knock(one, await tokenOf(["it"], 10))).toBe(404);
    expect([await knock(other, whole), await knock(one, whole)]).toEqual([404, 404]);
    expect([await ping(other), await ping(one)]).toEqual([404, 404]);
    // A right that came back at one of them is back at the other, for newer tokens.
    const newest = await tokenOf(all, 5);
    expect(await knock(other, newest)).toBe(200);
    expect(await knock(one, newest)).toBe(200);
  });

  test("are those of the newest of many tokens that come at once, whichever is stored last", async () => {
    await using own = await oidcFixture({});
    provider = own;
    await using set = await open(undefined);
    const urls = set.all.map(({ url }) => url);
    const ages = Array.from({ length: 24 }, (_, index) => 60 - index);
    const tokens = await Promise.all(ages.map((age) => tokenOf(age === 37 ? [] : all, age)));
    await Promise.all(tokens.map((token, index) => knock(urls[index % 2]!, token)));
    for (const token of tokens) for (const url of urls) expect(await knock(url, token)).toBe(404);
    const rows = await server.run(set.database, "SELECT groups FROM claudikins.newest_groups");
    expect(rows).toEqual([{ groups: "[]" }]);
  });

  test("in a session of the page go within two seconds, at the replicas that the newer token did not reach too", async () => {
    const origin = "https://tools.company.example";
    await using own = await oidcFixture({ ann: { groups: all } }, [`${origin}/ui/signed-in`]);
    provider = own;
    await using set = await open(origin);
    const [one, other] = set.all.map(({ url }) => url) as [string, string];
    const cookies = new Map<string, string>();
    const ask = async (url: string, init: RequestInit = {}) => {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
      const more = { origin, host: new URL(origin).host, "claudikins-ui": "1", "content-type": "application/json" };
      const headers = { ...more, cookie, "sec-fetch-site": "same-origin" };
      const response = await fetch(url, { redirect: "manual", ...init, headers });
      for (const line of response.headers.getSetCookie()) {
        const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
        cookies.set(name, value);
      }
      return response;
    };
    const begun = await ask(new URL("/ui/sign-in", one).href);
    const to = new URL(begun.headers.get("location")!);
    to.searchParams.set("login_hint", "ann");
    const back = await followed(to, ({ href }) => href.startsWith(`${origin}/ui/`), new Map());
    await ask(new URL(`${back.pathname}${back.search}`, other).href);
    const viewer = async (url: string) => {
      const state = (await (await ask(new URL("/ui/api/state", url).href)).json()) as { viewer?: object };
      return state.viewer;
    };
    for (const url of [one, other]) expect(await viewer(url)).toMatchObject({ mayApprove: true, people: [{}] });
    // An agent's token without the groups, issued before the sign-in, and then one after it.
    const agent = async (ageSeconds: number) => {
      const headers = { ...json, authorization: `Bearer ${await tokenOf(["qa-team"], ageSeconds)}` };
      const host = new URL(origin).host;
      const body = JSON.stringify(initialize());
      return (await fetch(one, { method: "POST", body, headers: { ...headers, host } })).status;
    };
    expect(await agent(100)).toBe(200);
    for (const url of [one, other]) expect(await viewer(url)).toMatchObject({ mayApprove: true, people: [{}] });
    // By the clock of the provider, in the second after the sign-in.
    await Bun.sleep(1_100);
    expect(await agent(begunAt - Math.floor(Date.now() / 1_000))).toBe(200);
    const without = { name: "ann", mayApprove: false, approvers: ["leads"] };
    await eventually(async () => Bun.deepEquals(await viewer(other), without), { withinMs: 2_000 });
    expect(await viewer(one)).toEqual(without);
    const revoke = { method: "POST", body: JSON.stringify({ id: "x" }) };
    for (const url of [one, other]) {
      expect((await ask(new URL("/ui/api/people/revoke", url).href, revoke)).status).toBe(404);
    }
  });
});
