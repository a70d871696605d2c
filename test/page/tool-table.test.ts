/** The table of all tools on the page: what it shows, the search as agents make it, changes of several tools and their undoing. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import type { PageImpact, PageSearch, PageToolTable, PageToolUse, PageUndo } from "../../src/page/servers-contract.ts";
import { cli } from "../cli/in-memory.ts";
import { storedCall } from "../store/contract/call-log.ts";
import { Page } from "../support/page.ts";
import { inStore } from "../support/stored.ts";
import { Scene } from "./scene.ts";

setDefaultTimeout(60_000);

const text = `{
  // My servers.
  "mcpServers": {
    "github": { "command": "github-mcp", "confirm": { "merge": "always" } }, // the main one
    "crm": { "command": "crm-mcp" }
  },
  "policy": { "rules": ["deny when tool == \\"crm.find\\" && args.all == true"] },
  "doors": { "qa": { "servers": ["github"], "tools": { "deny": ["github.merge"] } } }
}
`;
const issue = { description: "List the issues of a repository.", annotations: { readOnlyHint: true } };

let scene: Scene;
let page: Page;
beforeEach(async () => {
  const github = { entry: { command: "github-mcp" }, tools: [{ name: "list_issues", ...issue }, { name: "merge" }] };
  scene = await Scene.open({ github, crm: { entry: { command: "crm-mcp" }, tools: [{ name: "find" }] } }, text);
  page = await Page.open(scene.url);
});
afterEach(() => scene[Symbol.asyncDispose]());

const read = async <T>(path: string) => (await page.get(`api/${path}`)).json() as Promise<T>;
const send = async <T>(path: string, body: object) => (await page.post(`api/${path}`, body)).json() as Promise<T>;
const config = () => readFileSync(scene.config, "utf8");
const tool = (server: string, name: string) => ({ server, tool: name });

test("every tool has its state, and the rules that can apply to it; a door shows only its tools", async () => {
  const { tools } = await read<PageToolTable>("policy/tools");
  const states = tools.map(({ server, name, state, rules }) => [
    `${server}.${name}`,
    state,
    rules.map(({ line }) => line),
  ]);
  expect(states).toEqual([
    ["github.list_issues", "allow", []],
    ["github.merge", "ask", []],
    ["crm.find", "allow", ["policy.rules[0]"]],
  ]);
  const behind = await read<PageToolTable>("policy/tools?door=qa");
  expect(behind).toMatchObject({ tools: [{ server: "github", name: "list_issues" }], canChange: false });
  expect((await page.get("api/policy/tools?door=gone")).status).toBe(422);
});

test("a search finds what the command finds, in its order and with its signatures", async () => {
  const { found } = await read<PageSearch>("policy/search?query=list+the+issues");
  const printed = await cli(["search", "list the issues", "--limit", "50", "--json"], {
    cwd: scene.folder.path,
    env: scene.env,
  });
  const { tools } = JSON.parse(printed.stdout) as { tools: { id: string; signature: string }[] };
  expect(found.length).toBeGreaterThan(0);
  expect(found.map(({ id, signature }) => [id, signature])).toEqual(tools.map((each) => [each.id, each.signature]));
});

test("several tools are changed at once, and undone as long as nothing else has changed the file", async () => {
  const body = { tools: [tool("github", "list_issues"), tool("github", "merge"), tool("crm", "find")], state: "deny" };
  const { undo } = await send<PageUndo>("policy/states", body);
  expect((await read<PageToolTable>("policy/tools")).tools.map(({ state }) => state)).toEqual(["deny", "deny", "deny"]);
  await send("policy/undo", { undo });
  expect(config()).toBe(text);
  expect((await page.post("api/policy/undo", { undo })).status).toBe(404);
  const again = await send<PageUndo>("policy/states", { ...body, state: "ask" });
  scene.folder.write(".config/claudikins/claudikins.json", `${config()}\n`);
  expect(await send<{ error: string }>("policy/undo", again)).toMatchObject({
    error: expect.stringContaining("since"),
  });
  expect(config()).not.toBe(text);
});

test("a change that one tool refuses changes none, and names cannot be patterns", async () => {
  const some = [tool("github", "list_issues"), tool("nope", "x")];
  expect((await page.post("api/policy/states", { tools: some, state: "deny" })).status).toBe(422);
  expect((await page.post("api/policy/states", { tools: [tool("github", "*")], state: "deny" })).status).toBe(400);
  expect((await page.post("api/policy/states", { tools: [], state: "deny" })).status).toBe(400);
  expect(config()).toBe(text);
});

test("a change says what it would have meant for the calls of the last week", async () => {
  const now = Date.now();
  const calls = ["codex", "codex", null].map((agent, place) => ({
    ...storedCall(`c${place}`, now - place * 1_000),
    ...{ config: scene.config, server: "crm", tool: "find", agent, startedBy: "exec" as const },
  }));
  const old = { ...calls[0]!, id: "old", at: now - 8 * 86_400_000 };
  await inStore(scene.env, (store) => store.callLog.add([...calls, old, { ...calls[0]!, id: "x", config: "/other" }]));
  const body = (state: string) => ({ tools: [tool("crm", "find")], state });
  expect(await send<PageImpact>("policy/preview", body("deny"))).toEqual({
    calls: 3,
    waiting: 0,
    text: "3 of 3 calls in the last 7 days would have been denied: codex 2, claudikins exec 1",
  });
  expect((await send<PageImpact>("policy/preview", body("allow"))).text).toContain(
    "the change would have made no difference",
  );
});

test("changes need the session and the header of the page, and come from the page itself", async () => {
  const url = new URL(scene.url);
  const exchanged = await fetch(new URL("api/session", `${url.origin}${url.pathname}`), {
    method: "POST",
    headers: { origin: url.origin, "content-type": "application/json", "claudikins-ui": "1" },
    body: JSON.stringify({ token: url.hash.slice(1) }),
  });
  const own = {
    origin: url.origin,
    "content-type": "application/json",
    "claudikins-ui": "1",
    cookie: exchanged.headers.get("set-cookie")!.split(";")[0]!,
  };
  const { cookie: _, ...noSession } = own;
  const { "claudikins-ui": __, ...noHeader } = own;
  for (const path of ["policy/states", "policy/preview", "policy/undo"]) {
    const body = JSON.stringify({ tools: [tool("crm", "find")], state: "deny" });
    const statuses = [noSession, noHeader, { ...own, origin: "http://evil.example" }].map(async (headers) => {
      return (await fetch(new URL(`api/${path}`, `${url.origin}${url.pathname}`), { method: "POST", headers, body }))
        .status;
    });
    expect([path, ...(await Promise.all(statuses))]).toEqual([path, 401, 403, 403]);
  }
  for (const path of ["policy/tools", "policy/uses", "policy/search", "figures"]) {
    const address = new URL(`api/${path}`, `${url.origin}${url.pathname}`);
    expect((await fetch(address, { headers: noSession })).status).toBe(401);
  }
  expect(config()).toBe(text);
});

test("behind a door, only the calls through it are counted", async () => {
  const call = (id: string, door: string | null) => {
    return { ...storedCall(id, Date.now() - 1_000), config: scene.config, server: "github", tool: "list_issues", door };
  };
  await inStore(scene.env, (store) => store.callLog.add([call("c1", null), call("c2", "qa"), call("c3", null)]));
  const uses = async (path: string) => (await read<PageToolUse[]>(path)).map(({ tool, calls }) => [tool, calls]);
  expect(await uses("policy/uses")).toEqual([["list_issues", 3]]);
  expect(await uses("policy/uses?door=qa")).toEqual([["list_issues", 1]]);
  expect((await page.get("api/policy/uses?door=gone")).status).toBe(422);
});

test("a denial says before that it ends calls that wait, on the page and with disable --preview", async () => {
  await scene.ask({ config: scene.config, server: "crm", tool: "find" });
  await scene.ask({ config: scene.config, server: "github", tool: "merge" });
  await scene.ask({ config: "/other.json", server: "crm", tool: "find" });
  const preview = (state: string) => send<PageImpact>("policy/preview", { tools: [tool("crm", "find")], state });
  const text = "No call in the last 7 days. 1 call that waits for approval would end with an error";
  expect(await preview("deny")).toEqual({ calls: 0, waiting: 1, text });
  expect(await preview("ask")).toMatchObject({ waiting: 0, text: "No call in the last 7 days" });
  const { folder, env } = scene;
  const run = (...argv: string[]) => cli(argv, { cwd: folder.path, env });
  expect((await run("disable", "crm.find", "--preview")).stdout).toBe(`${text}\n`);
  expect(JSON.parse((await run("disable", "github", "--preview", "--json")).stdout).preview.waiting).toBe(1);
  expect(JSON.parse((await run("confirm", "crm.find", "always", "--preview", "--json")).stdout).preview.waiting).toBe(
    0,
  );
  expect(config()).not.toContain('"deny": ["find"]');
});

test("a tool has the same labels behind a door, which may never have listed it", async () => {
  await scene[Symbol.asyncDispose]();
  const properties = { title: { type: "string" }, points: { type: "array" } };
  const chart = {
    name: "render_chart",
    description: "Renders a bar chart as a PNG image.",
    inputSchema: { type: "object", properties },
    annotations: { readOnlyHint: true },
  };
  const mail = { name: "send_email", description: "Sends a mail to a customer.", annotations: { openWorldHint: true } };
  const config = {
    mcpServers: { shop: { command: "shop-mcp" } },
    doors: { qa: { servers: ["shop"], tools: { deny: ["shop.delete_*"] } } },
  };
  scene = await Scene.open({ shop: { entry: { command: "shop-mcp" }, tools: [chart, mail] } }, JSON.stringify(config));
  page = await Page.open(scene.url);
  const labels = async (path: string) =>
    (await read<PageToolTable>(path)).tools.map((each) => [each.name, each.labels] as const);
  const own = await labels("policy/tools");
  expect(own.flatMap(([, each]) => each).length).toBeGreaterThan(0);
  expect(await labels("policy/tools?door=qa")).toEqual(own);
});
