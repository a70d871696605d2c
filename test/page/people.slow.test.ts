/** The page of `serve --http`: people sign in at an OIDC provider, and see and do what their groups allow. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { connect } from "node:net";
import { join } from "node:path";
import { decodeJwt } from "jose";
import type { PageCalls } from "../../src/page/activity-contract.ts";
import type { PageApproval, PageState } from "../../src/page/contract.ts";
import { personId } from "../../src/policy/people/claims.ts";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import {
  eventsOf,
  executeRequest,
  type HttpServe,
  httpServe,
  json,
  rawSession,
  resultText,
} from "../support/http-serve.ts";
import { followed, type OidcFixture, oidcFixture } from "../support/oidc.ts";
import { fixture } from "../support/servers.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(60_000);

const port = freePort();
const page = `http://127.0.0.1:${port}/ui/`;
let provider: OidcFixture;
let folder: TemporaryFolder;
let serving: HttpServe | undefined;

beforeAll(async () => {
  const accounts = {
    ann: { groups: ["qa-team", "leads"], email: "ann@example.com" },
    bob: { groups: ["qa-team"] },
    root: { groups: ["it"] },
  };
  provider = await oidcFixture(accounts, [`${page}signed-in`]);
});
afterAll(() => provider[Symbol.asyncDispose]());
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(async () => {
  serving?.signal("SIGTERM");
  expect(await serving?.exited).toBe(0);
  serving = undefined;
  folder[Symbol.dispose]();
});

async function start(oidc: object = {}, quotas: object = {}): Promise<void> {
  folder.write("claudikins.json", {
    mcpServers: { newer: fixture("modern", "reject", folder.path) },
    policy: { confirm: { "newer.echo": "always" } },
    doors: { qa: { servers: ["newer"], quotas } },
    auth: {
      oidc: {
        issuer: provider.issuer,
        audience: "https://tools.example.com",
        doors: { qa: ["qa-team"] },
        approvers: ["leads"],
        administrators: ["it"],
        clientId: "page",
        clientSecret: "${PAGE_SECRET}",
        ...oidc,
      },
    },
  });
  const env = { CLAUDIKINS_LOG: "debug", CLAUDIKINS_DAEMON: "off", PAGE_SECRET: "page-secret" };
  serving = await httpServe(folder, [], { token: "kept", port: String(port), env });
}

type Cookies = Map<string, string>;

/** What a browser sends: its cookies, and where the request comes from. */
function ask(cookies: Cookies, path: string, init: RequestInit = {}): Promise<Response> {
  const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  const own = { origin: new URL(page).origin, "claudikins-ui": "1", "content-type": "application/json" };
  const headers = { cookie, "sec-fetch-site": "same-origin", ...(init.method === "POST" ? own : {}), ...init.headers };
  return fetch(new URL(path, page), { redirect: "manual", ...init, headers });
}

/** Signs in as a browser with these cookies of the provider does. Returns those of the page. Without a subject, the provider must know it. */
async function signedIn(subject: string | undefined, atProvider: Cookies = new Map()): Promise<Cookies> {
  const cookies: Cookies = new Map();
  const begun = await ask(cookies, "sign-in");
  keep(cookies, begun);
  const to = new URL(begun.headers.get("location")!);
  if (subject !== undefined) to.searchParams.set("login_hint", subject);
  const back = await followed(to, ({ href }) => href.startsWith(page), atProvider);
  const ended = await ask(cookies, back.href);
  expect([ended.status, ended.headers.get("location")]).toEqual([303, "/ui/"]);
  keep(cookies, ended);
  return cookies;
}

/** Says yes to the provider, which asks whether the person wants to sign out. Returns where it sends the browser. */
async function confirmedSignOut(at: URL, cookies: Cookies): Promise<URL> {
  const cookie = () => ({ cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; ") });
  const asked = await fetch(at, { headers: cookie() });
  for (const line of asked.headers.getSetCookie()) {
    const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    cookies.set(name, value);
  }
  const [, xsrf = ""] = /name="xsrf" value="(\w+)"/.exec(await asked.text()) ?? [];
  const body = new URLSearchParams({ xsrf, logout: "yes" });
  const confirm = new URL("/session/end/confirm", at);
  const answer = await fetch(confirm, { method: "POST", body, headers: cookie(), redirect: "manual" });
  return new URL(answer.headers.get("location")!);
}

function keep(cookies: Cookies, response: Response): void {
  for (const line of response.headers.getSetCookie()) {
    expect(line).toContain("; Path=/ui/; HttpOnly; SameSite=Lax");
    const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    if (value === "") cookies.delete(name);
    else cookies.set(name, value);
  }
}

const stateOf = async (cookies: Cookies) => (await (await ask(cookies, "api/state")).json()) as PageState;

/** A program of the person that waits for an approval. */
async function waitingProgram(subject: string): Promise<string> {
  const headers = { authorization: `Bearer ${await provider.token(subject)}` };
  const session = await rawSession(`http://127.0.0.1:${port}/qa`, "2025-11-25", {}, "agent", headers);
  const text = await resultText(await session.post(executeRequest(2, 'return await newer.echo({ value: "hello" })')));
  const [, id = ""] = /The execution (\S+) waits/.exec(text) ?? [];
  expect(id).not.toBe("");
  return id;
}

describe("the sign-in to the page", () => {
  test("leads to the provider and back, and begins a session until the person signs out", async () => {
    await start();
    const first = await ask(new Map(), "");
    expect([first.status, first.headers.get("location")]).toEqual([303, "/ui/sign-in"]);
    expect((await ask(new Map(), "api/state")).status).toBe(401);
    const begun = await ask(new Map(), "sign-in");
    const to = new URL(begun.headers.get("location")!);
    expect(Object.fromEntries(to.searchParams)).toMatchObject({
      response_type: "code",
      client_id: "page",
      redirect_uri: `${page}signed-in`,
      code_challenge_method: "S256",
    });
    const cookies = await signedIn("bob");
    const shown = await ask(cookies, "");
    expect(await shown.text()).toContain('data-sign-in="sign-in"');
    expect((await stateOf(cookies)).viewer).toEqual({ name: "bob", mayApprove: false, approvers: ["leads"] });
    // Another page of the browser cannot use the session.
    const foreign = { method: "POST", headers: { origin: "https://evil.example.com" }, body: "{}" };
    expect((await ask(cookies, "api/sign-out", foreign)).status).toBe(403);
    expect((await ask(cookies, "api/state", { headers: { "sec-fetch-site": "cross-site" } })).status).toBe(403);
    expect((await ask(cookies, "api/sign-out", { method: "POST", body: "{}" })).status).toBe(200);
    expect((await ask(cookies, "api/state")).status).toBe(401);
    expect(serving!.stderr()).not.toContain("page-secret");
  });

  test("ends at the provider too when the person signs out, and the browser comes back", async () => {
    await start();
    const atProvider: Cookies = new Map();
    const cookies = await signedIn("ann", atProvider);
    // The provider has a session: it does not ask again who the person is.
    const other = await signedIn(undefined, atProvider);
    expect((await stateOf(other)).viewer?.name).toBe("ann@example.com");
    const ended = await ask(cookies, "api/sign-out", { method: "POST", body: "{}" });
    expect(ended.headers.get("set-cookie")).toContain(
      "claudikins-person=; Path=/ui/; HttpOnly; SameSite=Lax; Max-Age=0",
    );
    const to = new URL(((await ended.json()) as { to: string }).to);
    expect(to.origin).toBe(provider.issuer);
    const { id_token_hint: hint = "", ...query } = Object.fromEntries(to.searchParams);
    expect(query).toEqual({ client_id: "page", post_logout_redirect_uri: `${page}signed-out` });
    expect(decodeJwt(hint)).toMatchObject({ sub: "ann", aud: "page" });

    const back = await confirmedSignOut(to, atProvider);
    const last = await ask(cookies, back.href);
    expect([last.status, await last.text()]).toEqual([200, expect.stringContaining(`To sign in again, open ${page}`)]);
    expect(last.headers.get("content-security-policy")).toContain("default-src 'none'");
    // Now it asks.
    const begun = await ask(new Map(), "sign-in");
    await expect(
      followed(new URL(begun.headers.get("location")!), ({ href }) => href.startsWith(page), atProvider),
    ).rejects.toThrow("Sign in");
  });

  test("ends here alone if the provider has no address for it", async () => {
    provider.canSignOut = false;
    await provider.rotate();
    try {
      await start();
      const cookies = await signedIn("ann");
      expect((await ask(cookies, "api/sign-out", { method: "POST", body: "{}" })).status).toBe(204);
      expect((await ask(cookies, "api/state")).status).toBe(401);
    } finally {
      provider.canSignOut = true;
      await provider.rotate();
    }
  });

  test("counts only in the browser that began it, and once", async () => {
    await start();
    const cookies: Cookies = new Map();
    const begun = await ask(cookies, "sign-in");
    keep(cookies, begun);
    const to = new URL(begun.headers.get("location")!);
    to.searchParams.set("login_hint", "ann");
    const back = await followed(to, ({ href }) => href.startsWith(page), new Map());
    const refusal = "This answer does not belong to a sign-in of this browser, or it came too late\nTo sign in: /ui/";
    const other = await ask(new Map(), back.href);
    expect([other.status, await other.text()]).toEqual([403, refusal]);
    const changed = new URL(back);
    changed.searchParams.set("state", "another");
    expect((await ask(cookies, changed.href)).status).toBe(403);
    expect((await ask(cookies, back.href)).status).toBe(303);
    expect((await ask(cookies, back.href)).status).toBe(403);
    // The provider may say no.
    const again = await ask(cookies, "sign-in");
    keep(cookies, again);
    const state = new URL(again.headers.get("location")!).searchParams.get("state");
    const refused = await ask(cookies, `signed-in?error=access_denied&state=${state}`);
    expect(await refused.text()).toStartWith("The provider has refused the sign-in: access_denied\n");
  });

  test("says what is wrong with the client of the page, and is not offered without one", async () => {
    await start({ clientSecret: "a-wrong-secret" });
    const cookies: Cookies = new Map();
    const begun = await ask(cookies, "sign-in");
    keep(cookies, begun);
    const to = new URL(begun.headers.get("location")!);
    to.searchParams.set("login_hint", "ann");
    const back = await followed(to, ({ href }) => href.startsWith(page), new Map());
    const ended = await ask(cookies, back.href);
    expect(ended.status).toBe(502);
    expect(await ended.text()).toStartWith("The provider returned no token: invalid_client\n");
    serving!.signal("SIGTERM");
    await serving!.exited;
    await start({ clientId: undefined, clientSecret: undefined });
    // Then there is nothing at its address, as at any other.
    expect((await ask(new Map(), "")).status).toBe(401);
  });
});

describe("the rights of a session of the page", () => {
  const post = (body: object) => ({ method: "POST", body: JSON.stringify(body) });

  /** An agent of the person comes with a token, which was issued some seconds after now, or before. */
  async function agent(sub: string, groups: string[], afterSeconds: number): Promise<void> {
    const iat = Math.floor(Date.now() / 1_000) + afterSeconds;
    const claims = { iss: provider.issuer, aud: "https://tools.example.com", sub, groups, iat, exp: iat + 300 };
    const headers = { ...json, authorization: `Bearer ${await provider.forged(claims)}` };
    await fetch(`http://127.0.0.1:${port}/qa`, { method: "POST", headers, body: "{}" });
  }

  test("go with the groups that a newer token of the person lacks, and stay with an older or equal one", async () => {
    await start({ clockSkewSeconds: 60 });
    const id = await waitingProgram("bob");
    const [ann, root] = [await signedIn("ann"), await signedIn("root")];
    const [approval] = (await stateOf(ann)).approvals;
    const events = eventsOf(await ask(ann, "api/events"))[Symbol.asyncIterator]();
    const next = async () => JSON.parse((await events.next()).value?.data ?? "{}") as PageState;
    expect((await next()).viewer?.mayApprove).toBe(true);
    for (const who of ["ann", "root"]) await agent(who, [], -100);
    await agent("bob", [], 5);
    expect((await stateOf(ann)).viewer?.mayApprove).toBe(true);
    expect((await stateOf(root)).viewer?.people).toBeDefined();

    await agent("ann", ["qa-team"], 5);
    await agent("root", ["qa-team"], 5);
    expect(await stateOf(ann)).toMatchObject({ approvals: [], decided: [], viewer: { mayApprove: false } });
    await eventually(async () => (await next()).viewer?.mayApprove === false);
    await events.return?.();
    for (const decision of ["once", "session", "no"])
      expect((await ask(ann, `api/approvals/${approval!.id}`, post({ decision }))).status).toBe(404);
    expect((await ask(ann, `api/approvals/${approval!.id}`)).status).toBe(404);
    const { viewer, executions } = await stateOf(root);
    expect([viewer?.people, executions]).toEqual([undefined, []]);
    for (const route of ["people/revoke", "people/restore", "people/delete", `executions/${id}/cancel`]) {
      const of = personId(provider.issuer, "bob");
      expect([route, (await ask(root, `api/${route}`, post({ id: of }))).status]).toEqual([route, 404]);
    }
    // The page of a person has nothing of the whole machine.
    for (const route of ["figures", "policy/tools", "policy/uses", "policy/search?query=x", "rules"]) {
      expect([route, (await ask(root, `api/${route}`)).status]).toEqual([route, 404]);
    }
    expect((await ask(root, "api/policy/states", post({ tools: [], state: "deny" }))).status).toBe(404);
    expect((await stateOf(await signedIn("bob"))).approvals).toMatchObject([{ id: approval!.id }]);
    // A sign-in that is older than the newest known token has no more rights.
    expect((await stateOf(await signedIn("ann"))).viewer?.mayApprove).toBe(false);
    await agent("ann", ["leads"], 10);
    expect((await stateOf(ann)).viewer?.mayApprove).toBe(true);
  });

  test("are asked for when the body of a request has come, and not before", async () => {
    await start({ clockSkewSeconds: 60 });
    await waitingProgram("bob");
    const [ann, root] = [await signedIn("ann"), await signedIn("root")];
    const [approval] = (await stateOf(ann)).approvals;
    /** Sends the head of a request, waits, and sends its body. Returns the status. */
    const slowly = async (cookies: Cookies, path: string, body: string, meanwhile: () => Promise<void>) => {
      const { promise, resolve } = Promise.withResolvers<string>();
      const socket = connect(port, "127.0.0.1");
      socket.on("data", (bytes) => resolve(String(bytes)));
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
      const { origin, host } = new URL(page);
      const lines = [`POST /ui/${path} HTTP/1.1`, `Host: ${host}`, `Origin: ${origin}`, `Cookie: ${cookie}`];
      const more = ["Claudikins-UI: 1", "Sec-Fetch-Site: same-origin", "Content-Type: application/json"];
      socket.write(`${[...lines, ...more, `Content-Length: ${body.length}`].join("\r\n")}\r\n\r\n${body.slice(0, 1)}`);
      await Bun.sleep(500);
      await meanwhile();
      socket.write(body.slice(1));
      const answer = await promise;
      socket.destroy();
      return Number(answer.split(" ")[1]);
    };
    const losing = (who: string) => () => agent(who, ["qa-team"], 5);
    const decision = JSON.stringify({ decision: "once" });
    expect(await slowly(ann, `api/approvals/${approval!.id}`, decision, losing("ann"))).toBe(403);
    const bob = JSON.stringify({ id: personId(provider.issuer, "bob") });
    expect(await slowly(root, "api/people/revoke", bob, losing("root"))).toBe(404);
    expect((await stateOf(await signedIn("bob"))).approvals).toMatchObject([{ id: approval!.id }]);
    await agent("ann", ["leads"], 10);
    expect(await slowly(ann, `api/approvals/${approval!.id}`, decision, async () => {})).toBe(200);
  });
});

describe("the page of a person", () => {
  test("shows the person's own calls that wait, and lets approvers decide about all", async () => {
    await start();
    const id = await waitingProgram("bob");
    const [ann, bob, root] = [await signedIn("ann"), await signedIn("bob"), await signedIn("root")];
    const [approval] = (await stateOf(bob)).approvals;
    expect(approval).toMatchObject({
      server: "newer",
      tool: "echo",
      door: "qa",
      person: { name: "bob" },
      execution: id,
    });
    expect((await stateOf(root)).approvals).toEqual([]);
    expect((await stateOf(ann)).approvals).toMatchObject([{ id: approval!.id }]);
    expect((await stateOf(ann)).executions).toEqual([]);
    expect((await stateOf(bob)).executions).toMatchObject([{ id, person: "bob", kind: "waiting" }]);

    const decide = (cookies: Cookies) =>
      ask(cookies, `api/approvals/${approval!.id}`, { method: "POST", body: JSON.stringify({ decision: "once" }) });
    expect((await ask(root, `api/approvals/${approval!.id}`)).status).toBe(404);
    expect((await decide(root)).status).toBe(404);
    const refused = await decide(bob);
    expect([refused.status, await refused.json()]).toEqual([403, { error: "You may not approve or deny calls" }]);
    expect((await ask(ann, `api/executions/${id}/cancel`, { method: "POST", body: "{}" })).status).toBe(404);
    expect((await ask(ann, `trace/${id}`)).status).toBe(404);

    // Rules belong to the user of claudikins, and other people's calls have no rule here.
    const always = await ask(ann, `api/approvals/${approval!.id}`, {
      method: "POST",
      body: JSON.stringify({ decision: "always", mark: "x" }),
    });
    expect(always.status).toBe(403);
    expect((await ask(ann, `api/approvals/${approval!.id}/rule`)).status).toBe(404);
    const facts = async (cookies: Cookies) =>
      ((await (await ask(cookies, `api/approvals/${approval!.id}`)).json()) as PageApproval).facts;
    expect(await facts(ann)).toEqual({ asker: { startedBy: "serve", agent: "agent 1" }, reads: [] });
    expect(await facts(bob)).toEqual(await facts(ann));

    const decided = await decide(ann);
    expect(await decided.json()).toEqual({ execution: id, isRunning: true });
    await eventually(async () =>
      (await stateOf(bob)).executions.some(({ kind, isRecorded }) => kind === "good" && isRecorded),
    );
    expect((await ask(bob, `trace/${id}`)).status).toBe(200);
    expect((await ask(ann, `trace/${id}`)).status).toBe(404);
  });

  test("opens exactly one approval after the sign-in, and leads to no other place", async () => {
    await start();
    const cookies: Cookies = new Map();
    const leads = async (path: string) => (await ask(cookies, path)).headers.get("location");
    expect(await leads("?approval=7k2m9q4x")).toBe("/ui/sign-in?approval=7k2m9q4x");
    for (const wrong of ["//evil.example", "x%0d%0aset-cookie:%20a=b", "../admin", "A B", "x".repeat(21)]) {
      expect(await leads(`?approval=${wrong}`)).toBe("/ui/sign-in");
    }
    const begun = await ask(cookies, "sign-in?approval=7k2m9q4x");
    keep(cookies, begun);
    const to = new URL(begun.headers.get("location")!);
    to.searchParams.set("login_hint", "ann");
    const back = await followed(to, ({ href }) => href.startsWith(page), new Map());
    const ended = await ask(cookies, back.href);
    expect([ended.status, ended.headers.get("location")]).toEqual([303, "/ui/?approval=7k2m9q4x"]);
  });

  test("lets the person cancel own programs, and follows changes", async () => {
    await start();
    const bob = await signedIn("bob");
    const events = eventsOf(await ask(bob, "api/events"))[Symbol.asyncIterator]();
    const next = async () => JSON.parse((await events.next()).value?.data ?? "{}") as PageState;
    expect((await next()).executions).toEqual([]);
    const id = await waitingProgram("bob");
    await eventually(async () => (await next()).executions[0]?.id === id);
    expect((await ask(bob, `api/executions/${id}/cancel`, { method: "POST", body: "{}" })).status).toBe(200);
    await eventually(async () => (await stateOf(bob)).executions[0]?.kind === "bad");
    await events.return?.();
  });

  test("shows administrators everybody, and lets them take access away at once", async () => {
    await start();
    await waitingProgram("bob");
    const [bob, root] = [await signedIn("bob"), await signedIn("root")];
    const id = personId(provider.issuer, "bob");
    const people = await eventually(async () => {
      const { viewer } = await stateOf(root);
      return viewer?.people?.length === 2 && viewer.people[0]?.doors.length === 2 && viewer.people;
    });
    expect(people).toMatchObject([
      { id, name: "bob", doors: ["qa", "ui"], isRevoked: false, isViewer: false },
      { name: "root", doors: ["ui"], isRevoked: false, isViewer: true },
    ]);
    const change = (cookies: Cookies, what: string) =>
      ask(cookies, `api/people/${what}`, { method: "POST", body: JSON.stringify({ id }) });
    expect((await change(bob, "revoke")).status).toBe(404);
    expect((await change(root, "revoke")).status).toBe(200);
    expect((await ask(bob, "api/state")).status).toBe(401);
    const headers = { ...json, authorization: `Bearer ${await provider.token("bob")}` };
    const knock = () => fetch(`http://127.0.0.1:${port}/qa`, { method: "POST", headers, body: "{}" });
    expect((await knock()).status).toBe(403);
    expect((await stateOf(root)).approvals).toEqual([]);
    expect((await change(root, "restore")).status).toBe(200);
    expect((await knock()).status).toBe(400);
    const { path } = folder;
    const listed = Bun.spawnSync(
      [process.execPath, join(import.meta.dir, "../../src/main.ts"), "audit", "--user", "root"],
      {
        cwd: path,
        env: { ...process.env, HOME: path, XDG_DATA_HOME: `${path}/data` },
      },
    );
    expect(listed.stdout.toString()).toMatch(/restored +person bob .* root +page/);
  });

  test("shows administrators, and nobody else, the groups, sessions and calls of each person, and the limits", async () => {
    await start({ keepDays: 30 }, { callsPerMinute: 60, executionsAtOnce: 4 });
    await waitingProgram("bob");
    const [bob, root] = [await signedIn("bob"), await signedIn("root")];
    const id = personId(provider.issuer, "bob");
    const read = async (cookies: Cookies, path: string) => {
      const answer = await ask(cookies, `api/${path}`);
      return [answer.status, await answer.json()];
    };
    for (const path of [`people/about?id=${id}`, "administration"]) {
      expect([path, (await read(bob, path))[0]]).toEqual([path, 404]);
    }
    expect(await read(root, "people/about?id=0123456789abcdef")).toEqual([
      404,
      { error: "Nobody with this id has signed in" },
    ]);
    const calls = { days: 7, calls: 0, failures: 0, executions: 0 };
    expect(await read(root, `people/about?id=${id}`)).toEqual([
      200,
      {
        firstAt: expect.any(Number),
        groups: { names: ["qa-team"], at: expect.any(Number) },
        hasDirectory: false,
        ...{ sessions: 1, calls, credentials: [] },
      },
    ]);
    expect(await read(root, "administration")).toEqual([
      200,
      {
        rights: [
          { right: "Use the door qa", groups: ["qa-team"] },
          { right: "Approve calls", groups: ["leads"] },
          { right: "Administer", groups: ["it"] },
        ],
        quotas: [
          {
            owner: 'the door "qa"',
            text: "60 calls a minute",
            limit: 60,
            used: expect.any(Number),
            to: expect.any(Number),
          },
          { owner: 'the door "qa"', text: "4 programs at the same time", limit: 4 },
        ],
        keepDays: 30,
      },
    ]);
    const [approval] = (await stateOf(bob)).approvals;
    const ann = await signedIn("ann");
    const decided = await ask(ann, `api/approvals/${approval!.id}`, {
      method: "POST",
      body: JSON.stringify({ decision: "once" }),
    });
    expect(decided.status).toBe(200);
    const callsOf = async (cookies: Cookies) => ((await read(cookies, "calls"))[1] as PageCalls).calls;
    const [seen] = await eventually(async () => {
      const found = await callsOf(root);
      return found.length > 0 && found;
    });
    expect(seen).toMatchObject({ server: "newer", tool: "echo", person: "bob", outcome: "ok" });
    // Its program is the person's alone.
    expect(seen).not.toHaveProperty("execution");
    expect(await callsOf(bob)).toMatchObject([{ tool: "echo", execution: expect.any(String) }]);
    expect(await callsOf(ann)).toEqual([]);
    expect(await read(root, `people/about?id=${id}`)).toMatchObject([200, { calls: { calls: 1, executions: 1 } }]);
  });

  test("compares executions of the person only", async () => {
    await start();
    const [ann, bob, root] = [await signedIn("ann"), await signedIn("bob"), await signedIn("root")];
    const ended = async (name: string, cookies: Cookies) => {
      const id = await waitingProgram(name);
      await ask(cookies, `api/executions/${id}/cancel`, { method: "POST", body: "{}" });
      // It is recorded a moment after its end.
      await eventually(async () => (await ask(cookies, `api/executions/${id}/comparable`)).status === 200);
      return id;
    };
    const [one, other, hers] = [await ended("bob", bob), await ended("bob", bob), await ended("ann", ann)];
    const statusOf = async (cookies: Cookies, path: string) => (await ask(cookies, `api/executions/${path}`)).status;
    for (const [cookies, status] of [
      [bob, 200],
      [ann, 404],
      [root, 404],
    ] as const) {
      expect(await statusOf(cookies, `${one}/comparable`)).toBe(status);
      expect(await statusOf(cookies, `${one}/compare?with=${other}`)).toBe(status);
    }
    // Neither side may be somebody else's.
    expect(await statusOf(ann, `${hers}/compare?with=${one}`)).toBe(404);
    expect(await statusOf(ann, `${one}/compare?with=${hers}`)).toBe(404);
    const choices = await (await ask(bob, `api/executions/${one}/comparable`)).text();
    expect([choices.includes(other), choices.includes(hers)]).toEqual([true, false]);
  });

  test("shows administrators what runs for everybody without the programs, and lets them end it and delete what is kept", async () => {
    await start();
    const execution = await waitingProgram("bob");
    const [ann, bob, root] = [await signedIn("ann"), await signedIn("bob"), await signedIn("root")];
    const seenBy = async (cookies: Cookies) => (await stateOf(cookies)).executions.find(({ id }) => id === execution);
    expect(await seenBy(bob)).toMatchObject({ kind: "waiting", title: expect.stringContaining("newer.echo") });
    expect(await seenBy(ann)).toBeUndefined();
    const seen = await seenBy(root);
    expect(seen).toMatchObject({ kind: "waiting", person: "bob", isRecorded: false, canBeSaved: false });
    expect(seen).toMatchObject({ title: "a program", tools: [] });
    // The whole list is for the person only, whatever the rights of others are.
    const listed = async (cookies: Cookies) =>
      ((await (await ask(cookies, "api/activity?text=hello")).json()) as { executions: object[] }).executions.length;
    expect([await listed(bob), await listed(ann), await listed(root)]).toEqual([1, 0, 0]);
    const about = async (cookies: Cookies) => (await ask(cookies, `api/executions/${execution}/about`)).status;
    expect([await about(bob), await about(ann), await about(root)]).toEqual([200, 404, 404]);
    const again = await ask(bob, `api/executions/${execution}/again`, { method: "POST", body: '{"dryRun":true}' });
    expect(again.status).toBe(404);
    // Nobody runs code of their own on this page, and no code of others is shown.
    for (const cookies of [bob, root]) {
      const run = { method: "POST", body: '{"code":"return 1","dryRun":true}' };
      expect((await ask(cookies, "api/editor/run", run)).status).toBe(404);
      expect((await ask(cookies, `api/executions/${execution}/source`)).status).toBe(404);
    }
    const cancel = (cookies: Cookies) =>
      ask(cookies, `api/executions/${execution}/cancel`, { method: "POST", body: "{}" });
    expect((await cancel(ann)).status).toBe(404);
    expect((await cancel(root)).status).toBe(200);
    await eventually(async () => (await seenBy(root))?.isOver === true);
    expect((await ask(root, `trace/${execution}`)).status).toBe(404);

    const id = personId(provider.issuer, "bob");
    const change = (cookies: Cookies, what: string) =>
      ask(cookies, `api/people/${what}`, { method: "POST", body: JSON.stringify({ id }) });
    expect((await change(ann, "delete")).status).toBe(404);
    expect((await change(root, "delete")).status).toBe(409);
    expect((await change(root, "revoke")).status).toBe(200);
    expect((await change(root, "delete")).status).toBe(200);
    expect(await seenBy(root)).toBeUndefined();
    const { viewer } = await stateOf(root);
    expect(viewer?.people?.find((each) => each.id === id)).toMatchObject({
      name: id,
      isDeleted: true,
      isRevoked: true,
    });
  });
});
