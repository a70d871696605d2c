/** What an agent is shown of the tools that were called: only calls of the same entry in the same project count. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { cpSync, existsSync } from "node:fs";
import { join } from "node:path";
import { App } from "../../src/app/app.ts";
import { silentLog } from "../../src/base/log.ts";
import { loadConfig } from "../../src/config/load.ts";
import { Counts } from "../../src/programs/ledger/counts.ts";
import { Sandbox } from "../../src/sandbox/sandbox.ts";
import { learnLater } from "../../src/serve/surface/learn-later.ts";
import { surfaceOf } from "../../src/serve/surface/surface.ts";
import { cli } from "../cli/in-memory.ts";
import { fromSource } from "../support/claudikins.ts";
import { eventually } from "../support/eventually.ts";
import { processesWith } from "../support/process.ts";
import { fixture } from "../support/servers.ts";
import { storeCounts } from "../support/stored.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(60_000);

let home: TemporaryFolder;
beforeEach(() => {
  home = temporaryFolder();
});
afterEach(() => home[Symbol.dispose]());

const env = () => ({ HOME: home.path, CI: "true", CLAUDIKINS_DAEMON: "off", PATH: process.env["PATH"] ?? "" });

const tools = ["delete_all", "list_all"].map((name) => ({
  name,
  description: "",
  inputSchema: { type: "object", properties: { id: { type: "string" } } },
}));

/** A project with these servers. */
function project(name: string, servers: Record<string, object>): string {
  home.write(join(name, "claudikins.json"), JSON.stringify({ mcpServers: servers }));
  return join(home.path, name);
}

const toolsFile = (name: string) => home.write(`${name}.json`, JSON.stringify(tools));

async function exec(cwd: string, code: string): Promise<void> {
  const { exitCode, stderr } = await cli(["exec", "-e", code], { cwd, env: env() });
  expect([exitCode, stderr]).toEqual([0, expect.any(String)]);
}

/** The instructions of an agent's session in the project. */
async function instructions(cwd: string): Promise<string> {
  const config = await loadConfig({ cwd, env: env() });
  await using app = new App(config, new Sandbox({ keptWorkers: 0 }), { env: env(), cwd, log: silentLog });
  return (await surfaceOf(app)).instructions;
}

const learned = "delete_all({ id? })";
const callThrice = "for (let n = 0; n < 3; n++) await db.delete_all({}); return 1;";

test("calls of a project say nothing about a server of the same name in another one", async () => {
  const a = project("a", { db: fixture("from-file", toolsFile("one")) });
  const b = project("b", { db: fixture("from-file", toolsFile("two")) });
  await exec(a, callThrice);
  await exec(b, "return db.list_all({})");
  expect(await instructions(a)).toContain(learned);
  expect(await instructions(b)).toContain("list_all({ id? })");
  expect(await instructions(b)).not.toContain(learned);
});

test("the same entry in two projects is two servers", async () => {
  const entry = fixture("from-file", toolsFile("one"));
  const [a, b] = [project("a", { db: entry }), project("b", { db: entry })];
  await exec(a, callThrice);
  await exec(b, "return db.list_all({})");
  expect(await instructions(a)).toContain(learned);
  expect(await instructions(b)).not.toContain(learned);
});

test("an entry that replaces another one under its name begins with nothing", async () => {
  const a = project("a", { db: fixture("from-file", toolsFile("one")) });
  await exec(a, callThrice);
  expect(await instructions(a)).toContain(learned);
  project("a", { db: fixture("from-file", toolsFile("two")) });
  await exec(a, "return db.list_all({})");
  expect(await instructions(a)).not.toContain(learned);
  // The former entry is the same server as before.
  project("a", { db: fixture("from-file", toolsFile("one")) });
  await exec(a, "return db.list_all({})");
  expect(await instructions(a)).toContain(learned);
});

test("the person's own figures count the calls of all projects by name", async () => {
  const a = project("a", { db: fixture("from-file", toolsFile("one")) });
  const b = project("b", { db: fixture("from-file", toolsFile("two")) });
  await exec(a, callThrice);
  await exec(b, "return db.delete_all({})");
  const { stdout } = await cli(["stats", "--json"], { cwd: a, env: env() });
  expect(JSON.parse(stdout).tools).toMatchObject([{ server: "db", tool: "delete_all", calls: 4 }]);
});

test("counts that have names only are shown to the person and to no agent", async () => {
  const a = project("a", { db: fixture("from-file", toolsFile("one")) });
  await exec(a, "return db.list_all({})");
  const old = Counts.from({ tools: [["db", "delete_all", 9, 0, 9, 9, 9, 9]] });
  await storeCounts(env(), old, new Date());
  expect(await instructions(a)).not.toContain(learned);
  const { stdout } = await cli(["stats", "--json"], { cwd: a, env: env() });
  expect(JSON.parse(stdout).tools[0]).toMatchObject({ server: "db", tool: "delete_all", calls: 9 });
});

test("shapes of results that were seen stay with the entry that gave them, even in the folder of another project", async () => {
  const results = (field: string) => [
    {
      ...tools[1],
      inputSchema: { type: "object", properties: { at: { type: "string" } } },
      _results: [{ content: [{ type: "text", text: JSON.stringify({ [field]: 1 }) }] }],
    },
  ];
  const [one, two] = ["one", "two"].map((name) => home.write(`${name}.json`, JSON.stringify(results(`of_${name}`))));
  const a = project("a", { db: fixture("from-file", one!) });
  const b = project("b", { db: fixture("from-file", two!) });
  await exec(a, "return db.list_all({ at: '0' })");
  expect(await instructions(a)).toContain("of_one");
  const registry = join(".claudikins", "registry");
  expect(existsSync(join(a, registry))).toBe(true);
  cpSync(join(a, registry), join(b, registry), { recursive: true });
  expect(await instructions(b)).not.toContain("of_one");
});

describe("servers that were never asked", () => {
  /** Serves an agent that sends nothing but `initialize`, until the next session would be shown the text or the time is over. */
  async function sessionUntil(cwd: string, text: string, withinMs: number): Promise<boolean> {
    const command = [...fromSource, "serve", "--config", join(cwd, "claudikins.json")];
    const child = Bun.spawn(command, { cwd, env: env(), stdin: "pipe", stdout: "ignore", stderr: "ignore" });
    const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } };
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params })}\n`);
    await child.stdin.flush();
    const deadline = performance.now() + withinMs;
    let isShown = false;
    while (!isShown && performance.now() < deadline) {
      await Bun.sleep(100);
      isShown = (await instructions(cwd)).includes(text);
    }
    await child.stdin.end();
    await child.exited;
    return isShown;
  }

  test("are listed in the background of the first session, even if another server is broken", async () => {
    const cwd = project("a", { broken: { command: "none-such" }, db: fixture("from-file", toolsFile("one")) });
    expect(await instructions(cwd)).not.toContain("delete_all");
    expect(await sessionUntil(cwd, "delete_all", 30_000)).toBe(true);
    expect(processesWith(toolsFile("one"))).toEqual([]);
  });

  test("are listed without starting a server again that has failed in the session", async () => {
    const cwd = project("a", { exits: fixture("crash-on-start"), db: fixture("from-file", toolsFile("one")) });
    const config = await loadConfig({ cwd, env: env() });
    await using app = new App(config, new Sandbox({ keptWorkers: 0 }), { env: env(), cwd, log: silentLog });
    const { signal } = new AbortController();
    expect(await app.catalog.listMissing(signal, { only: ["exits"] })).toHaveProperty("size", 1);
    using _ = learnLater(app);
    await eventually(() => app.catalog.find("db") !== undefined);
    expect(app.pool.state("exits")).toMatchObject({ state: "broken", failures: 1 });
  });

  test("are not listed if surfaceLearns is off", async () => {
    const cwd = project("a", { db: fixture("from-file", toolsFile("one")) });
    const servers = { db: fixture("from-file", toolsFile("one")) };
    home.write(join("a", "claudikins.json"), JSON.stringify({ mcpServers: servers, surfaceLearns: false }));
    expect(await sessionUntil(cwd, "delete_all", 6_000)).toBe(false);
  });
});
