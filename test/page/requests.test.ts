/** Only a browser that has exchanged a token may use the page, and only from the page itself. Everything else is refused. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { setNamedSecret } from "../../src/config/secrets/change.ts";
import { storedSecrets } from "../../src/config/secrets/store.ts";
import type { PageLastingRule } from "../../src/page/contract.ts";
import { PageSessions } from "../../src/page/sessions.ts";
import { Scene } from "./scene.ts";

setDefaultTimeout(60_000);

let scene: Scene;
beforeEach(async () => {
  scene = await Scene.open();
});
afterEach(() => scene[Symbol.asyncDispose]());

/** Ends the usual scene, and continues with another one. */
async function swapped(other: Scene): Promise<Scene> {
  await scene[Symbol.asyncDispose]();
  return other;
}

interface Asked {
  method?: string;
  headers?: Record<string, string>;
  body?: unknown;
}

/** What the page's script sends, with changes. A header without a value is left out. */
async function ask(path: string, { method = "POST", headers = {}, body = {} }: Asked = {}): Promise<Response> {
  const { origin, pathname } = new URL(scene.url);
  const all = {
    origin,
    "sec-fetch-site": "same-origin",
    "content-type": "application/json",
    "claudikins-ui": "1",
    ...headers,
  };
  return fetch(new URL(path, `${origin}${pathname}`), {
    method,
    headers: Object.entries(all).filter(([, value]) => value !== ""),
    ...(method === "GET" ? {} : { body: JSON.stringify(body) }),
  });
}

const tokenIn = (url: string) => new URL(url).hash.slice(1);

/** The cookie of a new session. */
async function signIn(): Promise<string> {
  const answer = await ask("api/session", { body: { token: tokenIn(scene.url) } });
  expect(answer.status).toBe(204);
  return answer.headers.get("set-cookie")!.split(";")[0]!;
}

const state = (headers: Record<string, string>) => ask("api/state", { method: "GET", headers });

describe("a token", () => {
  test("is exchanged once for a cookie that scripts cannot read, that other sites do not send, and that other ports do not get", async () => {
    const { pathname } = new URL(scene.url);
    const answer = await ask("api/session", { body: { token: tokenIn(scene.url) } });
    expect(answer.headers.get("set-cookie")).toMatch(
      new RegExp(`^claudikins=[\\w-]{43}; Path=${pathname}; HttpOnly; SameSite=Strict$`),
    );
    expect(pathname).toMatch(/^\/[\w-]{22}\/$/);
    const cookie = answer.headers.get("set-cookie")!.split(";")[0]!;
    expect((await state({ cookie })).status).toBe(200);
  });

  test("used twice ends the session of its first use", async () => {
    const token = tokenIn(scene.url);
    const first = await ask("api/session", { body: { token } });
    const cookie = first.headers.get("set-cookie")!.split(";")[0]!;
    const second = await ask("api/session", { body: { token } });
    expect([second.status, await second.json()]).toEqual([
      401,
      {
        error: "This address was already used, so the page that was opened with it is closed too",
        hint: "Run claudikins ui again.",
      },
    ]);
    expect((await state({ cookie })).status).toBe(401);
  });

  test.each(["", "x", "../../../etc/passwd", "a".repeat(201), 7, null])("%p is refused", async (token) => {
    expect([400, 401]).toContain((await ask("api/session", { body: { token } })).status);
  });

  test("is valid for its time only, and a session ends after its idle time unless a stream is open", async () => {
    const sessions = new PageSessions({ tokenMs: 40, idleMs: 80 });
    const [late, used] = [sessions.newToken(), sessions.newToken()];
    const exchanged = sessions.exchange(used);
    if (!("session" in exchanged)) throw new Error("no session");
    const { session } = exchanged;
    const end = sessions.stream(session);
    await Bun.sleep(200);
    expect(sessions.exchange(late)).toEqual({ refused: "unknown" });
    expect([sessions.has(session), sessions.isInUse]).toEqual([true, true]);
    end();
    await Bun.sleep(200);
    expect([sessions.use(session), sessions.isInUse]).toEqual([false, false]);
  });
});

describe("without a session", () => {
  const routes = [
    ["GET", "api/state"],
    ["GET", "api/events"],
    ["GET", "api/approvals/abcdefgh"],
    ["POST", "api/approvals/abcdefgh"],
    ["GET", "api/tools?server=x"],
    ["POST", "api/policy/states"],
    ["POST", "api/sign-in"],
    ["POST", "api/sign-in/address"],
    ["GET", "api/activity"],
    ["GET", "api/executions/0tsj8yf27sw6astfxpenfht03rvr/about"],
    ["POST", "api/executions/0tsj8yf27sw6astfxpenfht03rvr/again"],
    ["GET", "api/executions/0tsj8yf27sw6astfxpenfht03rvr/source"],
    ["GET", "api/executions/0tsj8yf27sw6astfxpenfht03rvr/image?place=0"],
    ["POST", "api/editor/run"],
    ["POST", "api/editor/check"],
    ["POST", "api/editor/tools"],
    ["GET", "api/editor/servers"],
    ["GET", "api/calls"],
    ["GET", "api/servers/log?server=x"],
    ["GET", "api/servers/catalog"],
    ["POST", "api/servers/check"],
    ["POST", "api/servers/restart"],
    ["POST", "api/servers/switch"],
    ["POST", "api/servers/remove"],
    ["POST", "api/servers/add"],
    ["GET", "api/programs/about?name=x"],
    ["POST", "api/programs/test"],
    ["POST", "api/programs/retry"],
    ["GET", "api/first/demo"],
    ["POST", "api/first/demo"],
    ["GET", "api/first/import"],
    ["POST", "api/first/import"],
    ["GET", "api/version"],
    ["POST", "api/version/check"],
    ["GET", "api/daemons"],
    ["POST", "api/daemons/stop"],
    ["GET", "api/secrets"],
    ["POST", "api/secrets/set"],
    ["POST", "api/secrets/remove"],
    ["GET", "api/audit"],
    ["GET", "api/audit/verify"],
    ["GET", "trace/0000000000"],
    ["GET", "nothing"],
    ["DELETE", "api/state"],
  ] as const;

  test.each(routes)("%s %s says how to open the page, and nothing else", async (method, path) => {
    const answer = await ask(path, { method, headers: { cookie: `claudikins=${"x".repeat(43)}` } });
    expect([answer.status, await answer.text()]).toEqual([
      401,
      JSON.stringify({ error: "Open this page with: claudikins ui" }),
    ]);
  });

  test("every path but that of the page says how to open it", async () => {
    for (const path of ["/", "/api/state", "/AAAAAAAAAAAAAAAAAAAAAA/", "/..%2f"]) {
      const answer = await ask(path, { method: "GET" });
      expect([answer.status, await answer.text()]).toEqual([404, "Open this page with: claudikins ui\n"]);
    }
  });

  test("the files of the page contain no data", async () => {
    const id = await scene.ask({ args: { secret: "hunter2" } });
    for (const path of ["", "page.js", "editor.js", "page.css", "icon.svg"]) {
      const answer = await ask(path, { method: "GET" });
      const text = await answer.text();
      expect([answer.status, text.includes("hunter2"), text.includes(id), text.includes(scene.folder.path)]).toEqual([
        200,
        false,
        false,
        false,
      ]);
    }
  });
});

describe("with a session", () => {
  test("a rule is written as it was shown, after its call was approved, and never without that", async () => {
    scene = await swapped(
      await Scene.open({ shop: { entry: { command: "x", confirm: "always" }, tools: [{ name: "refund" }] } }),
    );
    const cookie = await signIn();
    const id = await scene.ask({ server: "shop", tool: "refund" });
    const before = readFileSync(scene.config, "utf8");
    const shown = (await (
      await ask(`api/approvals/${id}/rule`, { method: "GET", headers: { cookie } })
    ).json()) as PageLastingRule;
    expect(shown).toMatchObject({
      file: scene.config,
      changes: [{ at: "mcpServers.shop.confirm", before: '"always"', after: '{"*":"always","refund":"never"}' }],
    });
    const decide = async (mark: string) => {
      const answer = await ask(`api/approvals/${id}`, { headers: { cookie }, body: { decision: "always", mark } });
      return answer.status;
    };
    expect(await decide("another")).toBe(422);
    expect([(await scene.rows(id))[0]?.state, readFileSync(scene.config, "utf8")]).toEqual(["open", before]);
    expect(await decide(shown.mark)).toBe(200);
    expect((await scene.rows(id))[0]).toMatchObject({ state: "approved", scope: "once" });
    expect(JSON.parse(readFileSync(scene.config, "utf8")).mcpServers.shop.confirm).toEqual({
      "*": "always",
      refund: "never",
    });
    expect(await decide(shown.mark)).toBe(409);
    // Nothing of another config is written, and no rule is offered that would not help.
    const other = await scene.ask({ server: "shop", tool: "refund", config: "/other/claudikins.json" });
    const rule = (of: string) => ask(`api/approvals/${of}/rule`, { method: "GET", headers: { cookie } });
    expect((await rule(other)).status).toBe(409);
    const again = await scene.ask({ server: "shop", tool: "refund", call: 2 });
    expect((await rule(again)).status).toBe(422);
  });

  const foreign: Record<string, Record<string, string>> = {
    "another origin": { origin: "https://evil.example" },
    "another port of this machine": { origin: "http://127.0.0.1:1" },
    "no origin": { origin: "" },
    "the origin null": { origin: "null" },
    "another site": { "sec-fetch-site": "cross-site" },
    "another port, which is the same site": { "sec-fetch-site": "same-site" },
    "no header of the page": { "claudikins-ui": "" },
  };
  test.each(Object.keys(foreign))("a change from %s is refused and does nothing", async (name) => {
    const cookie = await signIn();
    const id = await scene.ask();
    const answer = await ask(`api/approvals/${id}`, {
      headers: { cookie, ...foreign[name] },
      body: { decision: "once" },
    });
    expect(answer.status).toBe(403);
    expect((await scene.rows(id))[0]?.state).toBe("open");
  });

  /** Changes that would start a program or write the config, as another page would ask for them. */
  const changes: [path: string, body: object][] = [
    ["api/servers/add", { kind: "command", name: "evil", what: "touch hacked", values: {}, secrets: [] }],
    ["api/servers/check", { server: "shop" }],
    ["api/servers/restart", { server: "shop" }],
    ["api/servers/switch", { server: "shop", isOn: false }],
    ["api/servers/remove", { server: "shop" }],
    ["api/programs/test", { name: "x" }],
    ["api/programs/retry", { delivery: "x" }],
    ["api/executions/0tsj8yf27sw6astfxpenfht03rvr/again", { dryRun: false }],
    ["api/first/demo", {}],
    ["api/first/import", { mark: "x", withAgents: true }],
    ["api/version/check", {}],
    ["api/daemons/stop", { pid: process.pid, now: true }],
    ["api/secrets/set", { name: "EVIL", value: "evil", inFile: true }],
    ["api/secrets/remove", { name: "KEPT" }],
    ["api/editor/run", { code: "return 1", dryRun: false }],
    ["api/editor/check", { code: "return 1" }],
    ["api/editor/tools", { server: "shop" }],
  ];
  /** These also answer a question, which changes nothing. */
  const questions = ["api/first/demo", "api/first/import"];
  test.each(changes)("%s from any other page is refused and does nothing", async (path, body) => {
    const cookie = await signIn();
    await setNamedSecret("KEPT", "value", { inFile: true, env: scene.env });
    const before = readFileSync(scene.config, "utf8");
    for (const headers of Object.values(foreign)) {
      expect((await ask(path, { headers: { cookie, ...headers }, body })).status).toBe(403);
    }
    for (const wrong of [{ ...body, more: 1 }, [], null, ...(Object.keys(body).length > 0 ? [{}] : [])]) {
      expect((await ask(path, { headers: { cookie }, body: wrong })).status).toBe(400);
    }
    // An address alone, as in a link or an image, changes nothing.
    const read = await ask(path, { method: "GET", headers: { cookie } });
    expect(read.status).toBe(questions.includes(path) ? 200 : 404);
    expect(readFileSync(scene.config, "utf8")).toBe(before);
    expect(storedSecrets(scene.env).map(({ name }) => name)).toEqual(["KEPT"]);
  });

  test("filters that the page does not make are refused, and those that it makes are bounded", async () => {
    const headers = { cookie: await signIn() };
    const status = async (path: string) => (await ask(path, { method: "GET", headers })).status;
    for (const wrong of [
      "state=any",
      "since=soon",
      "after=../x",
      `text=${"x".repeat(501)}`,
      `agent=${"x".repeat(501)}`,
    ]) {
      expect([wrong, await status(`api/activity?${wrong}`)]).toEqual([wrong, 400]);
    }
    for (const wrong of ["since=soon", "after=1", "after=x~y", `who=${"x".repeat(501)}`]) {
      expect([wrong, await status(`api/calls?${wrong}`)]).toEqual([wrong, 400]);
    }
    const sql = encodeURIComponent("' OR 1=1; DROP TABLE records; --%_!");
    for (const name of ["text", "agent", "door", "server", "tool"]) {
      expect(await status(`api/activity?${name}=${sql}`)).toBe(200);
      expect(await status(`api/calls?${name}=${sql}`)).toBe(200);
    }
    for (let place = 0; place < 130; place += 1) await scene.record({ at: Date.now() - place * 1_000 });
    const answer = await (await ask("api/activity?text=", { method: "GET", headers })).json();
    expect((answer as { executions: object[] }).executions).toHaveLength(100);
  });

  test("the value of a secret is in no answer, and hashes and numbers that the page does not make are refused", async () => {
    const headers = { cookie: await signIn() };
    const value = "hunter2-hunter2";
    const texts: string[] = [];
    const said = async (path: string, asked: Asked) => {
      const answer = await ask(path, { ...asked, headers });
      texts.push(await answer.text());
      return answer.status;
    };
    const set = (body: object) => said("api/secrets/set", { body: { name: "KEY", value, inFile: true, ...body } });
    expect(await set({})).toBe(200);
    expect(await set({ name: "not a name" })).toBe(422);
    expect(await set({ value: `${value}\0` })).toBe(422);
    expect(await set({ value: [value] })).toBe(400);
    expect(await said("api/secrets", { method: "GET" })).toBe(200);
    expect(texts.at(-1)).toContain('"KEY"');
    expect(await said("api/secrets/remove", { body: { name: value } })).toBe(422);
    expect(texts.slice(0, -1).filter((text) => text.includes("hunter2"))).toEqual([]);
    for (const wrong of ["audit?most=0", "audit?most=1001", "audit?decision=any", "audit/verify?contains=x"]) {
      expect([wrong, await said(`api/${wrong}`, { method: "GET" })]).toEqual([wrong, 400]);
    }
    expect(await said("api/daemons/stop", { body: { pid: 1, now: true } })).toBe(422);
    expect(texts.at(-1)).toContain("There is no daemon 1 any more");
  });

  test.each(["evil.example", "localhost", "127.0.0.1", "127.0.0.1:1", "[::1]"])(
    "a request to the host %s is refused, also for files",
    async (host) => {
      const cookie = await signIn();
      for (const path of ["", "api/state"]) {
        expect((await ask(path, { method: "GET", headers: { cookie, host } })).status).toBe(403);
      }
    },
  );

  test("a page of another origin cannot read: no answer allows it", async () => {
    const cookie = await signIn();
    const answer = await ask("api/state", { method: "GET", headers: { cookie, origin: "https://evil.example" } });
    expect(answer.status).toBe(403);
    const asked = await ask("api/policy/states", { method: "OPTIONS", headers: { origin: "https://evil.example" } });
    expect([asked.status, asked.headers.get("access-control-allow-origin")]).toEqual([403, null]);
  });

  test("bodies that are not as expected are refused", async () => {
    const cookie = await signIn();
    const id = await scene.ask();
    const wrong: unknown[] = [
      {},
      { decision: "yes" },
      { decision: "always" },
      { decision: "once", reason: "why" },
      { decision: "deny", reason: "" },
      { decision: "deny", reason: "x".repeat(501) },
      { decision: "once", more: 1 },
      [],
      "once",
      null,
    ];
    for (const body of wrong) {
      expect((await ask(`api/approvals/${id}`, { headers: { cookie }, body })).status).toBe(400);
    }
    const form = { cookie, "content-type": "text/plain" };
    expect((await ask(`api/approvals/${id}`, { headers: form, body: { decision: "once" } })).status).toBe(415);
    const long = { decision: "once", more: "x".repeat(300_000) };
    expect((await ask(`api/approvals/${id}`, { headers: { cookie }, body: long })).status).toBe(413);
    expect((await scene.rows(id))[0]?.state).toBe("open");
  });

  test("unknown things are refused with a sentence", async () => {
    const cookie = await signIn();
    const asked = async (path: string, method: string, body = {}) => {
      const answer = await ask(path, { method, headers: { cookie }, body });
      return [answer.status, ((await answer.json()) as { error: string }).error];
    };
    expect(await asked("api/approvals/zzzzzzzz", "POST", { decision: "once" })).toEqual([
      404,
      "This approval does not exist",
    ]);
    expect(await asked("trace/..%2f..%2fetc", "GET")).toEqual([
      404,
      "This execution has no record, or its record was deleted",
    ]);
    for (const path of [
      "api/nothing",
      "api/constructor",
      "api/approvals/*",
      "api/approvals/a/b",
      "api/executions/a/cancel/b",
    ]) {
      expect(await asked(path, "POST")).toEqual([404, "The page has no such request"]);
    }
    expect(await asked("api/tools?server=nobody", "GET")).toMatchObject([422, expect.stringContaining("nobody")]);
  });

  test("an unchanged state is not sent again", async () => {
    const cookie = await signIn();
    const etag = (await state({ cookie })).headers.get("etag")!;
    expect((await state({ cookie, "if-none-match": etag })).status).toBe(304);
    await scene.ask();
    expect((await state({ cookie, "if-none-match": etag })).status).toBe(200);
  });

  test("the end of the server ends its sessions and streams", async () => {
    const cookie = await signIn();
    const stream = await ask("api/events", { method: "GET", headers: { cookie } });
    const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader();
    const first = await reader.read();
    expect(first.value).toStartWith("data: {");
    await scene.server.close();
    let rest = "";
    for (let next = await reader.read(); !next.done; next = await reader.read()) rest += next.value;
    expect(rest).toContain("event: end");
    expect(state({ cookie })).rejects.toThrow();
  });
});

test("every answer forbids scripts of others, frames, caches and referrers", async () => {
  const cookie = await signIn();
  const id = await scene.record();
  for (const [path, policy] of [
    ["", "default-src 'none'; script-src 'self'; style-src 'self'"],
    ["api/state", "default-src 'none'"],
    ["/", "default-src 'none'"],
    [`trace/${id}`, "sandbox allow-scripts"],
  ] as const) {
    const { headers } = await ask(path, { method: "GET", headers: { cookie } });
    const found = headers.get("content-security-policy")!;
    expect([path, found.startsWith(policy), found.includes("frame-ancestors 'none'")]).toEqual([path, true, true]);
    expect(found).not.toMatch(/unsafe|https?:|\*/);
    expect([
      headers.get("x-frame-options"),
      headers.get("cache-control"),
      headers.get("referrer-policy"),
      headers.get("x-content-type-options"),
    ]).toEqual(["DENY", "no-store", "no-referrer", "nosniff"]);
  }
});

test("the first view is at most 200 KB compressed", async () => {
  const files = await Promise.all(["", "page.js", "page.css", "icon.svg"].map((path) => ask(path, { method: "GET" })));
  const sizes = await Promise.all(files.map(async (file) => Bun.gzipSync(await file.arrayBuffer()).length));
  expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(200_000);
});

test("it listens on this machine only", async () => {
  const { port } = scene.server.invite();
  const listening = Bun.spawnSync(["sh", "-c", `cat /proc/net/tcp /proc/net/tcp6`]).stdout.toString();
  const hex = port.toString(16).toUpperCase().padStart(4, "0");
  const addresses = [...listening.matchAll(new RegExp(`: ([0-9A-F]+):${hex} \\S+ 0A`, "g"))].map(([, each]) => each);
  expect(addresses).toEqual(["0100007F"]);
});

test("an approval is given whole as long as it is open, and with its beginning afterwards", async () => {
  const args = { first: 1, text: "x".repeat(500_000), last: "the end" };
  const id = await scene.ask({ args });
  const headers = { cookie: await signIn() };
  const whole = JSON.stringify(args, null, 2);
  const get = async () =>
    (await (await ask(`api/approvals/${id}`, { method: "GET", headers })).json()) as { args: string };
  expect(await get()).toMatchObject({ args: whole, argsChars: whole.length });
  await scene.approvals.decide(id, { state: "denied", by: "command" });
  expect(await get()).toMatchObject({ args: whole.slice(0, 2_000), argsChars: whole.length, state: "denied" });
});
