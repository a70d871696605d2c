/** Doors, rules, labels and edits of tools on the page: they are listed, and written to the config like those of the commands. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { PageRules } from "../../src/page/contract.ts";
import { Scene } from "./scene.ts";

setDefaultTimeout(60_000);

const github = { entry: { command: "x" }, tools: [{ name: "get_issue" }, { name: "create_issue" }] };

let scene: Scene;
let cookie: string;
beforeEach(async () => {
  scene = await Scene.open({ github, mail: { entry: { command: "y" }, tools: [{ name: "send" }] } });
  const token = new URL(scene.url).hash.slice(1);
  const begun = await ask("session", { token });
  cookie = begun.headers.get("set-cookie")!.split(";")[0]!;
});
afterEach(() => scene[Symbol.asyncDispose]());

async function ask(path: string, body?: object, headers: Record<string, string> = {}): Promise<Response> {
  const { origin, pathname } = new URL(scene.url);
  const own = { origin, "content-type": "application/json", "claudikins-ui": "1", ...(cookie ? { cookie } : {}) };
  return fetch(new URL(`api/${path}`, `${origin}${pathname}`), {
    method: body ? "POST" : "GET",
    headers: { ...own, ...headers },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
}

/** The lists after a change, or the refusal. */
async function lists(path = "rules", body?: object): Promise<PageRules & { error?: string }> {
  return (await ask(path, body)).json() as Promise<PageRules & { error?: string }>;
}

const config = () => JSON.parse(readFileSync(scene.config, "utf8"));
const door = { name: "qa", servers: ["github"], allow: [], deny: ["github.create_*"], ask: ["github.get_issue"] };

test("a door is made, listed with what is behind it, and removed", async () => {
  const before = config();
  expect(await lists()).toMatchObject({ servers: ["github", "mail"], doors: [], rules: [], canChange: true });
  const { doors } = await lists("rules/doors", door);
  const asked = { asked: ["github.get_issue"], askedMore: 0 };
  expect(doors).toEqual([{ ...door, agents: [], tokens: [], tools: 1, ...asked } as never]);
  expect(config().doors.qa).toEqual({
    servers: ["github"],
    tools: { deny: ["github.create_*"], confirm: { "github.get_issue": "always" } },
  });
  expect((await lists("rules/doors", door)).error).toContain('already has the door "qa"');
  expect((await lists("rules/doors", { ...door, name: "other", servers: ["nope"] })).error).toContain("nope");
  expect((await lists("rules/doors/remove", { name: "gone" })).error).toContain('"gone"');
  expect((await lists("rules/doors/remove", { name: "qa" })).doors).toEqual([]);
  expect(config()).toEqual(before);
});

test("a door says which of its tools ask, by the door and by the policy", async () => {
  await scene[Symbol.asyncDispose]();
  const config = {
    mcpServers: { shop: { command: "shop-mcp" }, mail: { command: "y" } },
    policy: { confirm: "destructive" },
    doors: { qa: { servers: ["shop"], tools: { confirm: { "shop.list": "always" } } } },
  };
  const destroys = { annotations: { destructiveHint: true } };
  const tools = [
    { name: "list", annotations: { readOnlyHint: true } },
    { name: "refund", ...destroys },
  ];
  const mail = { entry: { command: "y" }, tools: [{ name: "send", ...destroys }] };
  scene = await Scene.open({ shop: { entry: { command: "shop-mcp" }, tools }, mail }, JSON.stringify(config));
  cookie = "";
  const begun = await ask("session", { token: new URL(scene.url).hash.slice(1) });
  cookie = begun.headers.get("set-cookie")!.split(";")[0]!;
  expect((await lists()).doors).toMatchObject([{ ask: ["shop.list"], asked: ["shop.list", "shop.refund"] }]);
});

test("rules are added and removed, and those of all servers are only shown", async () => {
  const rule = { server: "github", tool: "create_issue", isNew: true };
  await lists("rules", { ...rule, confirm: "always" });
  const { rules } = await lists("rules", { ...rule, tool: "get_*", access: "denied" });
  expect(rules).toEqual([
    { server: "github", pattern: "get_*", effect: "deny", line: "mcpServers.github.deny" },
    { server: "github", pattern: "create_issue", effect: "always", line: "mcpServers.github.confirm" },
  ]);
  expect((await lists("rules", { ...rule, tool: "nothing", access: "denied" })).error).toContain("nothing");
  expect((await lists("rules", { ...rule, tool: "*", confirm: "always" })).error).toContain("no pattern");
  await lists("rules", { ...rule, isNew: false, confirm: "default" });
  expect((await lists("rules", { ...rule, isNew: false, tool: "get_*", access: "allowed" })).rules).toEqual([]);
  expect(config().mcpServers.github).toEqual({ command: "x" });
  scene.folder.write(".config/claudikins/claudikins.json", {
    ...config(),
    policy: { deny: ["*.delete_*"], rules: ["confirm when true"] },
  });
  expect((await lists()).rules).toEqual([
    { pattern: "*.delete_*", effect: "deny", line: "policy.deny" },
    { pattern: "confirm when true", effect: "condition", line: "policy.rules[0]" },
  ]);
});

test("each change of the config on the page is undone by its id, with the comments of the file", async () => {
  const text = `{\n  // Mine.\n  "mcpServers": { "github": { "command": "x", "deny": ["get_*"] }, "mail": { "command": "y" } }\n}\n`;
  scene.folder.write(".config/claudikins/claudikins.json", text);
  const tool = { server: "github", tool: "create_issue" };
  const changes: [path: string, body: object][] = [
    ["policy/states", { tools: [tool], state: "deny" }],
    ["policy/states", { tools: [tool], state: "ask" }],
    ["rules", { server: "github", tool: "get_*", isNew: false, access: "allowed" }],
    ["rules", { ...tool, isNew: true, confirm: "always" }],
    ["rules/labels", { ...tool, labels: ["private"] }],
    ["rules/edits", { ...tool, name: "make_issue" }],
    ["rules/doors", door],
    ["servers/switch", { server: "mail", isOn: false }],
    ["servers/remove", { server: "mail" }],
  ];
  for (const [path, body] of changes) {
    const { undo } = (await (await ask(path, body)).json()) as { undo?: string };
    expect([path, readFileSync(scene.config, "utf8") === text]).toEqual([path, false]);
    expect((await ask("policy/undo", { undo })).ok).toBe(true);
    expect(readFileSync(scene.config, "utf8")).toBe(text);
  }
  const unchanged = await ask("policy/states", { tools: [tool], state: "allow" });
  expect(await unchanged.json()).not.toHaveProperty("undo");
});

test("the removal of a server with unpacked files has no undo", async () => {
  const bundle = join(scene.env["HOME"]!, ".local", "share", "claudikins", "bundles", "one");
  mkdirSync(bundle, { recursive: true });
  const owner = JSON.stringify({ config: scene.config, server: "mail" });
  writeFileSync(join(bundle, ".claudikins-bundle.json"), owner);
  const entries = { github: { command: "x" }, mail: { command: "y", cwd: bundle } };
  scene.folder.write(".config/claudikins/claudikins.json", { mcpServers: entries });
  const removed = await ask("servers/remove", { server: "mail" });
  expect(await removed.json()).toEqual({});
  expect(existsSync(bundle)).toBe(false);
});

test("labels and edits of tools are said and removed, without values of arguments", async () => {
  const before = config();
  const tool = { server: "github", tool: "create_issue" };
  const said = await lists("rules/labels", { ...tool, labels: ["private"] });
  expect(said.labels).toEqual([{ server: "github", pattern: "create_issue", labels: ["private"] }]);
  const edited = await lists("rules/edits", { ...tool, name: "file_bug", description: "Files a bug." });
  expect(edited.edits).toEqual([{ ...tool, name: "file_bug", description: "Files a bug.", arguments: [] }]);
  const secret = { ...config().tools["github.create_issue"], arguments: { key: { value: "s3cret-0815" } } };
  scene.folder.write(".config/claudikins/claudikins.json", { ...config(), tools: { "github.create_issue": secret } });
  const text = await (await ask("rules")).text();
  expect([text.includes('"arguments":["key"]'), text.includes("s3cret")]).toEqual([true, false]);
  expect((await lists("rules/edits", { ...tool, reset: true })).edits).toEqual([]);
  expect((await lists("rules/labels", { ...tool, labels: null })).labels).toEqual([]);
  expect(config()).toEqual(before);
});

test("changes need the session and the header of the page, and a body that is as expected", async () => {
  const before = readFileSync(scene.config, "utf8");
  expect((await ask("rules/doors", door, { cookie: "claudikins=x" })).status).toBe(401);
  expect((await ask("rules/doors", door, { origin: "https://example.com" })).status).toBe(403);
  expect((await ask("rules/doors", { ...door, mode: "direct" })).status).toBe(400);
  expect((await ask("rules/labels", { server: "github", tool: "x", labels: ["secret"] })).status).toBe(400);
  expect((await ask("rules/nothing", {})).status).toBe(404);
  expect(readFileSync(scene.config, "utf8")).toBe(before);
});

test("the mark of the state changes with the config", async () => {
  const mark = async () => ((await (await ask("state")).json()) as { rulesMark: string }).rulesMark;
  const before = await mark();
  await lists("rules/doors", door);
  expect(await mark()).not.toBe(before);
});
