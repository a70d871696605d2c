/** Sign-ins to the page for people under attack: floods, planted and moved cookies, other sites, and several tabs. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { personId } from "../../src/policy/people/claims.ts";
import { auditLines } from "../support/audit.ts";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import { executeRequest, type HttpServe, httpServe, rawSession, resultText } from "../support/http-serve.ts";
import { type OidcFixture, oidcFixture } from "../support/oidc.ts";
import { ownAccounts } from "../support/own-accounts.ts";
import { anonymousSignIns, PageBrowser } from "../support/page-browser.ts";
import { fixture } from "../support/servers.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(60_000);

const port = freePort();
const page = `http://127.0.0.1:${port}/ui/`;
const secure = "https://tools.example.com/ui/";
let provider: OidcFixture;
let accounts: Awaited<ReturnType<typeof ownAccounts>>;
let folder: TemporaryFolder;
let serving: HttpServe | undefined;
let config: string;

beforeAll(async () => {
  const people = { ann: { groups: ["qa-team"] }, bob: { groups: ["qa-team"] }, root: { groups: ["it"] } };
  provider = await oidcFixture(people, [`${page}signed-in`, `${secure}signed-in`]);
  accounts = await ownAccounts();
});
afterAll(async () => {
  await provider[Symbol.asyncDispose]();
  await accounts[Symbol.asyncDispose]();
});
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(async () => {
  await stop();
  folder[Symbol.dispose]();
});

async function stop(): Promise<void> {
  serving?.signal("SIGTERM");
  expect(await serving?.exited).toBe(0);
  serving = undefined;
}

async function start(oidc: object = {}): Promise<void> {
  config = folder.write("claudikins.json", {
    mcpServers: {
      newer: fixture("modern", "reject", folder.path),
      desk: { url: accounts.url, credentials: "user" },
      wiki: { url: "http://127.0.0.1:9/mcp", headers: { Authorization: "Bearer ${user:KEY}" }, credentials: "user" },
    },
    policy: { confirm: { "newer.echo": "always" } },
    doors: { qa: { servers: ["newer", "desk", "wiki"] } },
    auth: {
      oidc: {
        ...{ issuer: provider.issuer, audience: "https://tools.example.com", doors: { qa: ["qa-team"] } },
        ...{ administrators: ["it"], clientId: "page", clientSecret: "page-secret", ...oidc },
      },
    },
  });
  const env = { CLAUDIKINS_DAEMON: "off", CLAUDIKINS_SEALING_KEY: randomBytes(32).toString("base64") };
  serving = await httpServe(folder, [], { token: "kept", port: String(port), env });
}

const browser = (from?: PageBrowser) => new PageBrowser(page, page, from?.cookies);
const refusal = "This answer does not belong to a sign-in of this browser, or it came too late\nTo sign in: /ui/";
const signInsOf = ({ cookies }: PageBrowser) => [...cookies.keys()].filter((name) => name.includes("sign-in"));

describe("a sign-in to the page", () => {
  test.each([1_100, 5_000])("ends whatever others begin meanwhile: %d of them", async (count) => {
    await start();
    const ann = browser();
    const back = await ann.begun("ann");
    expect(await anonymousSignIns([page], count)).toBe(count);
    expect((await ann.ask(back.href)).status).toBe(303);
    expect(await ann.state()).toBe(200);
  });

  test("in two tabs ends in both, in any order, and the last session counts", async () => {
    await start();
    const ann = browser();
    const first = await ann.begun("ann");
    const link = `connect/qa/desk?for=${personId(provider.issuer, "ann")}`;
    const second = await ann.begun("ann", link);
    expect(signInsOf(ann)).toHaveLength(2);
    expect((await ann.ask(second.href)).headers.get("location")).toBe(`/ui/${link}`);
    expect((await ann.ask(first.href)).headers.get("location")).toBe("/ui/");
    expect(signInsOf(ann)).toEqual([]);
    expect(await ann.state()).toBe(200);
    // At the same moment.
    const other = browser();
    const both = [await other.begun("bob"), await other.begun("bob")];
    const ended = await Promise.all(both.map(({ href }) => other.ask(href)));
    expect(ended.map(({ status }) => status)).toEqual([303, 303]);
  });

  test("has a cookie of bounded size, and a browser keeps few of them: the oldest is given up", async () => {
    await start();
    const ann = browser();
    const backs: URL[] = [];
    for (let tab = 0; tab < 9; tab += 1) backs.push(await ann.begun("ann"));
    expect(signInsOf(ann)).toHaveLength(6);
    expect((await ann.ask(backs[2]!.href)).status).toBe(403);
    for (const back of backs.slice(3)) expect((await ann.ask(back.href)).status).toBe(303);
    const longest = `connect/qa/${"a".repeat(1_000)}?for=0123456789abcdef`;
    for (let tab = 0; tab < 6; tab += 1) await browser().begun("ann", longest);
    const full = browser();
    for (let tab = 0; tab < 8; tab += 1) expect((await full.ask(longest)).status).toBe(303);
    for (const value of full.cookies.values()) expect(value.length).toBeLessThan(2_500);
    expect((await full.ask(`connect/qa/desk?for=${"a".repeat(2_000)}`)).status).toBe(414);
  });

  test("counts in its own browser alone: no other cookie opens it, and none can be read or changed", async () => {
    await start();
    const [ann, eve] = [browser(), browser()];
    const back = await ann.begun("ann");
    const eves = await eve.begun("bob");
    const [name = ""] = signInsOf(ann);
    const sealed = ann.cookies.get(name)!;
    const read = sealed.split(".").map((part) => Buffer.from(part, "base64url").toString("latin1"));
    const state = back.searchParams.get("state")!;
    for (const part of [sealed, ...read]) expect(part).not.toMatch(/verifier|nonce|endsAt/);
    expect(sealed).not.toContain(state);
    const tried = async (cookies: [string, string][], address: URL) => {
      const response = await new PageBrowser(page, page, new Map(cookies)).ask(address.href);
      return [response.status, await response.text()];
    };
    const [evesName = ""] = signInsOf(eve);
    const evesSealed = eve.cookies.get(evesName)!;
    // Eve's cookies under any name, Ann's answer: somebody leads Ann into Eve's session, or Eve has seen Ann's address.
    for (const [cookies, address] of [
      [[], back],
      [[[name, evesSealed]], back],
      [[[evesName, evesSealed]], back],
      [[[evesName, sealed]], back],
      [[[name, sealed]], eves],
      [[[evesName, sealed]], eves],
      [[[name, `${sealed.slice(0, -2)}xx`]], back],
      [[[name, sealed.split(".").slice(0, 2).join(".")]], back],
      [[["claudikins-sign-in", state]], back],
      [[["claudikins-sign-in-", sealed]], new URL(`${page}signed-in?code=x`)],
    ] as [[string, string][], URL][]) {
      expect(await tried(cookies, address)).toEqual([403, refusal]);
    }
    // None of that has used it up.
    expect((await ann.ask(back.href)).status).toBe(303);
    // A process that was started again does not know the key, without a database.
    const late = await eve.begun("bob");
    await stop();
    await start();
    expect((await eve.ask(late.href)).status).toBe(403);
  });

  test("counts once, even with the cookie that it began with", async () => {
    await start();
    const ann = browser();
    const back = await ann.begun("ann");
    const copies = Array.from({ length: 4 }, () => browser(ann));
    const ended = await Promise.all(copies.map(async (each) => (await each.ask(back.href)).status));
    expect(ended.filter((status) => status === 303)).toHaveLength(1);
    expect(ended.filter((status) => status === 403)).toHaveLength(3);
    expect((await browser(ann).ask(back.href)).status).toBe(403);
  });

  test("ends the person's own oldest session if there are many, and nobody else's", async () => {
    await start();
    const [ann, first, last] = [browser(), browser(), browser()];
    await ann.signIn("ann");
    await first.signIn("bob");
    for (let times = 0; times < 49; times += 1) await browser().signIn("bob");
    expect(await first.state()).toBe(200);
    await last.signIn("bob");
    expect([await ann.state(), await first.state(), await last.state()]).toEqual([200, 401, 200]);
    // The person's id in a cookie is not enough.
    const id = personId(provider.issuer, "ann");
    for (const value of [
      id,
      `${id}.`,
      `${id}.${"A".repeat(43)}`,
      last.cookies.get("claudikins-person")!.replace(/^\w+/, id),
    ]) {
      expect(await new PageBrowser(page, page, new Map([["claudikins-person", value]])).state()).toBe(401);
    }
  });

  test("is in the audit log, as is the sign-out, and one that fails is not", async () => {
    await start();
    const [ann, eve] = [browser(), browser()];
    await eve.ask((await browser().begun("bob")).href);
    await anonymousSignIns([page], 20);
    await ann.signIn("ann");
    expect((await ann.ask("api/sign-out", { method: "POST", body: "{}" })).status).toBe(200);
    const person = { id: personId(provider.issuer, "ann"), name: "ann" };
    const lines = auditLines({ XDG_DATA_HOME: `${folder.path}/data` });
    expect(
      lines.map(({ decision, person: of, by, config: file }) => [decision, of, by.person, by.place, file]),
    ).toEqual([
      ["signed-in", person, person, "page", config],
      ["signed-out", person, person, "page", config],
    ]);
  });

  test("is followed in the audit log by what an administrator does: a cancelled execution, a revoked person", async () => {
    await start();
    const headers = { authorization: `Bearer ${await provider.token("bob")}` };
    const session = await rawSession(`http://127.0.0.1:${port}/qa`, "2025-11-25", {}, "agent", headers);
    const text = await resultText(await session.post(executeRequest(2, 'return await newer.echo({ value: "hello" })')));
    const [, execution = ""] = /The execution (\S+) waits/.exec(text) ?? [];
    const [root, bob] = [browser(), browser()];
    await root.signIn("root");
    await bob.signIn("bob");
    const post = (path: string, body: object = {}) => root.ask(path, { method: "POST", body: JSON.stringify(body) });
    expect((await post("api/executions/0unknown/cancel")).status).toBe(404);
    expect((await post(`api/executions/${execution}/cancel`)).status).toBe(200);
    await eventually(async () => (await (await post(`api/executions/${execution}/cancel`)).json()) === false);
    const bobs = { id: personId(provider.issuer, "bob"), name: "bob" };
    expect((await post("api/people/revoke", { id: bobs.id })).status).toBe(200);
    const lines = auditLines({ XDG_DATA_HOME: `${folder.path}/data` });
    const roots = lines.filter(({ by }) => by.person?.name === "root").map((line) => [line.decision, line.person]);
    // One that has ended is not cancelled again.
    const later = roots.length;
    expect(await (await post(`api/executions/${execution}/cancel`)).json()).toBe(false);
    expect(auditLines({ XDG_DATA_HOME: `${folder.path}/data` })).toHaveLength(lines.length);
    expect(later).toBeGreaterThanOrEqual(3);
    expect(roots[0]).toEqual(["signed-in", { id: personId(provider.issuer, "root"), name: "root" }]);
    expect(roots[1]).toEqual(["cancelled", bobs]);
    expect(roots.at(-1)).toEqual(["revoked", bobs]);
    expect(lines.find(({ decision }) => decision === "cancelled")).toMatchObject({ execution, door: "qa", config });
  });
});

describe("the cookies of the page", () => {
  test("have __Host- with https, and those without it do not count", async () => {
    await start({ address: "https://tools.example.com" });
    const ann = new PageBrowser(secure, page);
    const begun = await ann.ask("sign-in");
    expect(begun.headers.get("set-cookie")).toMatch(
      /^__Host-claudikins-sign-in-[0-9a-f]{16}=[\w.-]+; Path=\/; HttpOnly; SameSite=Lax; Secure; Max-Age=300$/,
    );
    const back = await ann.begun("ann");
    const planted = new Map([...ann.cookies].map(([name, value]) => [name.replace("__Host-", ""), value]));
    expect((await new PageBrowser(secure, page, planted).ask(back.href)).status).toBe(403);
    const ended = await ann.ask(back.href);
    const cookies = ended.headers.getSetCookie();
    expect(cookies).toHaveLength(2);
    expect(cookies[0]).toMatch(
      /^__Host-claudikins-person=[0-9a-f]{16}\.[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
    );
    expect(cookies[1]).toMatch(/^__Host-claudikins-sign-in-[0-9a-f]{16}=; Path=\/; .*; Secure; Max-Age=0$/);
    expect(await ann.state()).toBe(200);
    // A neighbouring domain can set the plain name, for this host too.
    const session = ann.cookies.get("__Host-claudikins-person")!;
    expect(await new PageBrowser(secure, page, new Map([["claudikins-person", session]])).state()).toBe(401);
    const both = new Map([["claudikins-person", "planted"], ...ann.cookies]);
    expect(await new PageBrowser(secure, page, both).state()).toBe(200);
    const out = await ann.ask("api/sign-out", { method: "POST", body: "{}" });
    expect(out.headers.get("set-cookie")).toMatch(/^__Host-claudikins-person=; Path=\/; .*Secure; Max-Age=0$/);
  });

  test("have no prefix without https, where only some browsers would take them", async () => {
    await start();
    const begun = await browser().ask("sign-in");
    expect(begun.headers.get("set-cookie")).toMatch(
      /^claudikins-sign-in-[0-9a-f]{16}=[\w.-]+; Path=\/ui\/; HttpOnly; SameSite=Lax; Max-Age=300$/,
    );
  });
});

describe("the link of a server", () => {
  const desk = () => `connect/qa/desk?for=${personId(provider.issuer, "ann")}`;
  const form = (more: Record<string, string> = {}) => ({
    method: "POST",
    body: "",
    headers: { "content-type": "application/x-www-form-urlencoded", ...more },
  });

  test("changes nothing, asks with the name of the server, and begins when the person continues", async () => {
    await start();
    const ann = browser();
    await ann.signIn("ann");
    const requests = accounts.requests;
    for (let times = 0; times < 3; times += 1) {
      const shown = await ann.ask(desk());
      const text = await shown.text();
      expect([shown.status, text]).toEqual([200, expect.stringContaining("<h1>Sign in to desk?</h1>")]);
      expect(text).toContain(`desk is at ${new URL(accounts.url).host}.`);
      expect(shown.headers.get("referrer-policy")).toBe("same-origin");
      expect(shown.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
    }
    expect(accounts.requests).toBe(requests);
    const begun = await ann.ask(desk(), form());
    expect(begun.status).toBe(303);
    expect(new URL(begun.headers.get("location")!).searchParams.get("redirect_uri")).toBe(`${page}connected`);
  });

  test("is not begun by another page, nor for another person, nor without a session", async () => {
    await start();
    const ann = browser();
    await ann.signIn("ann");
    const requests = accounts.requests;
    const foreign: Record<string, string>[] = [
      { origin: "https://evil.example.com" },
      { origin: "null" },
      { origin: `http://localhost:${port}` },
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
      { "sec-fetch-site": "none" },
    ];
    for (const headers of foreign) expect((await ann.ask(desk(), form(headers))).status).toBe(403);
    const { origin: _, ...none } = { origin: "" };
    const bare = await fetch(new URL(desk(), page), {
      ...{ method: "POST", body: "", redirect: "manual" as const },
      headers: { ...none, cookie: [...ann.cookies].map(([name, value]) => `${name}=${value}`).join("; ") },
    });
    expect(bare.status).toBe(403);
    for (const method of ["PUT", "DELETE", "PATCH"]) {
      expect([401, 403, 404, 405]).toContain((await ann.ask(desk(), { ...form(), method })).status);
    }
    const bob = browser();
    await bob.signIn("bob");
    expect((await bob.ask(desk(), form())).status).toBe(403);
    expect((await browser().ask(desk(), form())).status).toBe(401);
    expect(accounts.requests).toBe(requests);
  });

  test("can be continued many times by one person, and that ends no sign-in of others", async () => {
    await start();
    const [ann, bob] = [browser(), browser()];
    await ann.signIn("ann");
    await bob.signIn("bob");
    const begun = await ann.ask(desk(), form());
    const state = new URL(begun.headers.get("location")!).searchParams.get("state")!;
    const states: string[] = [];
    for (let times = 0; times < 30; times += 1) {
      const answer = await bob.ask("connect/qa/desk", form());
      states.push(new URL(answer.headers.get("location")!).searchParams.get("state")!);
    }
    const ended = (who: PageBrowser, of: string) => who.ask(`connected?state=${of}&error=access_denied`);
    // Bob's own first one was given up.
    expect((await ended(bob, states[0]!)).status).toBe(403);
    expect(await (await ended(bob, states[29]!)).text()).toContain("Not signed in to desk");
    expect((await ended(bob, state)).status).toBe(403);
    expect(await (await ended(ann, state)).text()).toContain("Not signed in to desk");
  });
});
