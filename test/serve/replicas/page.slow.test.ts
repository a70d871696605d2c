/** The page for people behind a balancer without affinity: a sign-in begins at one replica, ends at another one, and is known to all. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { personId } from "../../../src/policy/people/claims.ts";
import { balancer } from "../../support/balancer.ts";
import { freePort } from "../../support/free-port.ts";
import { followed, oidcFixture } from "../../support/oidc.ts";
import { ownAccounts } from "../../support/own-accounts.ts";
import { ownFolder } from "../../support/own-folder.ts";
import { anonymousSignIns, PageBrowser } from "../../support/page-browser.ts";
import { PersonHosts } from "../../support/person-hosts.ts";
import { type PostgresFixture, postgresFixture, postgresNote } from "../../support/postgres.ts";
import { openReplicas } from "../../support/replicas.ts";
import { fixture } from "../../support/servers.ts";

setDefaultTimeout(120_000);

const folder = ownFolder();

describe.skipIf(postgresNote !== "")(`the page of replicas${postgresNote}`, () => {
  let server: PostgresFixture;
  beforeAll(async () => {
    server = await postgresFixture();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test("is signed in to over two replicas, and a sign-out at one of them counts for both", async () => {
    const targets: string[] = [];
    let asked = 0;
    await using door = balancer(targets, () => asked++ % 2);
    const origin = new URL(door.url).origin;
    await using provider = await oidcFixture({ ann: { groups: ["qa-team"] } }, [`${origin}/ui/signed-in`]);
    folder.write("claudikins.json", {
      mcpServers: { newer: fixture("modern", "reject", folder.path) },
      auth: {
        oidc: {
          issuer: provider.issuer,
          audience: "https://tools.example.com",
          doors: { mcp: ["qa-team"] },
          address: origin,
          clientId: "page",
          clientSecret: "page-secret",
        },
      },
    });
    await using set = await openReplicas(folder, server, 2, { token: "kept" });
    targets.push(...set.all.map(({ url }) => url));
    const cookies = new Map<string, string>();
    const at = async (address: string, init: RequestInit = {}) => {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
      const own = { origin, "claudikins-ui": "1", "content-type": "application/json", "sec-fetch-site": "same-origin" };
      const host = new URL(origin).host;
      const response = await fetch(address, { redirect: "manual", ...init, headers: { ...own, cookie, host } });
      for (const line of response.headers.getSetCookie()) {
        const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
        if (value === "") cookies.delete(name);
        else cookies.set(name, value);
      }
      return response;
    };
    const begun = await at(`${origin}/ui/sign-in`);
    const to = new URL(begun.headers.get("location")!);
    to.searchParams.set("login_hint", "ann");
    const back = await followed(to, ({ href }) => href.startsWith(`${origin}/ui/`), new Map());
    // The same answer of the provider counts once, at any replica.
    const again = new Map(cookies);
    expect((await at(back.href)).headers.get("location")).toBe("/ui/");
    const mine = new Map(cookies);
    for (const [name, value] of again) cookies.set(name, value);
    expect((await at(back.href)).status).toBe(403);
    cookies.clear();
    for (const [name, value] of mine) cookies.set(name, value);
    expect(door.sent).toEqual([2, 1]);
    const states = () =>
      Promise.all(set.all.map(({ url }) => at(new URL("/ui/api/state", url).href).then(({ status }) => status)));
    expect(await states()).toEqual([200, 200]);
    // The database alone is of no use.
    const [row] = await server.run(set.database, "SELECT string_agg(value, ' ') AS kept FROM claudikins.kept_values");
    expect(row!["kept"]).not.toContain("ann");
    // The headers of tokens begin with `alg`, `typ` or `kid`. Sealed values are random, and may have shorter parts of them.
    expect(row!["kept"]).not.toMatch(/eyJ(?:hbGci|0eXAi|raWQi)/);
    const secrets = JSON.stringify(await server.run(set.database, "SELECT * FROM claudikins.kept_values"));
    for (const value of mine.values()) expect(secrets).not.toContain(value);
    const signedOut = new Map(cookies);
    await at(new URL("/ui/api/sign-out", set.all[1]!.url).href, { method: "POST", body: "{}" });
    for (const [name, value] of signedOut) cookies.set(name, value);
    expect(await states()).toEqual([401, 401]);
  });

  test.each([1_100, 5_000])(
    "ends a sign-in, and none of the %d others that begin at both replicas leaves a row",
    async (count) => {
      const port = freePort();
      const page = `http://127.0.0.1:${port}/ui/`;
      await using provider = await oidcFixture({ ann: { groups: ["qa-team"] } }, [`${page}signed-in`]);
      folder.write("claudikins.json", {
        mcpServers: { newer: fixture("modern", "reject", folder.path) },
        auth: {
          oidc: {
            ...{ issuer: provider.issuer, audience: "https://tools.example.com", doors: { mcp: ["qa-team"] } },
            ...{ address: new URL(page).origin, clientId: "page", clientSecret: "page-secret" },
          },
        },
      });
      await using set = await openReplicas(folder, server, 2, { token: "kept" });
      const [one, two] = set.all.map(({ url }) => new URL("/ui/", url).href);
      const ann = new PageBrowser(page, one);
      const back = await ann.begun("ann");
      const host = new URL(page).host;
      expect(await anonymousSignIns([one!, two!], count, host)).toBe(count);
      const [kept] = await server.run(set.database, "SELECT count(*)::int AS rows FROM claudikins.kept_values");
      expect(kept).toEqual({ rows: 0 });
      // The other replica ends it.
      const there = new PageBrowser(page, two, ann.cookies);
      expect((await there.ask(back.href)).status).toBe(303);
      expect(await there.state()).toBe(200);
      expect(await new PageBrowser(page, one, there.cookies).state()).toBe(200);
      // With the same answer, a third time: the first replica does not take it either.
      expect((await ann.ask(back.href)).status).toBe(403);
    },
  );

  test("ends a sign-in to a server at the replica that has begun it, also if another one gets the answer", async () => {
    const targets: string[] = [];
    let asked = 0;
    await using door = balancer(targets, () => asked++ % 2);
    const origin = new URL(door.url).origin;
    await using provider = await oidcFixture({ ann: { groups: ["qa-team"] } }, [`${origin}/ui/signed-in`]);
    await using accounts = await ownAccounts();
    folder.write("claudikins.json", {
      mcpServers: { desk: { url: accounts.url, credentials: "user" } },
      auth: {
        oidc: {
          ...{ issuer: provider.issuer, audience: "https://tools.example.com", doors: { mcp: ["qa-team"] } },
          ...{ address: origin, clientId: "page", clientSecret: "page-secret" },
        },
      },
    });
    const env = { CLAUDIKINS_SEALING_KEY: randomBytes(32).toString("base64"), CLAUDIKINS_DAEMON: "off" };
    await using set = await openReplicas(folder, server, 2, { token: "kept", env });
    targets.push(...set.all.map(({ url }) => url));
    const hosts = new PersonHosts(origin, () => provider);
    const cookies = new Map<string, string>();
    // With each number of requests before it, the sign-in begins and ends at other replicas.
    for (const more of [0, 1]) {
      asked += more;
      const link = `${origin}/ui/connect/mcp/desk?for=${personId(provider.issuer, "ann")}`;
      const { status, text } = await hosts.browse(link, cookies, "ann");
      expect([status, text]).toEqual([200, expect.stringContaining("<h1>Signed in to desk</h1>")]);
    }
  });
});
