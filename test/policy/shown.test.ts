/** Denied tools are never shown: not found, listed, described or suggested. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { sessionMode } from "../../src/serve/proxy/mode.ts";
import { instructionsFor } from "../../src/serve/surface/instructions.ts";
import { surfaceOf } from "../../src/serve/surface/surface.ts";
import { callSearchTools } from "../../src/serve/tools/search-tools.ts";
import { search } from "../../src/tools/search/search.ts";
import { overview } from "../../src/tools/search/search-answer.ts";
import { cli } from "../cli/in-memory.ts";
import { fixture } from "../support/servers.ts";
import { Recorded } from "./recorded.ts";

setDefaultTimeout(60_000);

const recorded = new Recorded();
afterAll(() => recorded[Symbol.asyncDispose]());

const signal = new AbortController().signal;
const hidden = /remove.it|plain.it/;
const denying = { deny: ["remove-*", "plain-it"] };

async function value(source: string): Promise<unknown> {
  const outcome = await recorded.run(source);
  return outcome.ok ? outcome.value : `${outcome.error.message}\n${outcome.error.hint ?? ""}`;
}

const placesOfPolicy: [string, object, object | undefined][] = [
  ["an entry", denying, undefined],
  ["the common policy", {}, { deny: ["rec.remove-*", "*.plain-it"] }],
  ["an allow list", { allow: ["read-it", "add-it", "lie", "odd"] }, undefined],
];

describe.each(placesOfPolicy)("denied tools by %s", (_, keys, policy) => {
  test("are not in searches, lists, descriptions and instructions", async () => {
    const app = await recorded.open(keys, policy);
    for (const query of ["remove plain it", "remove_it", "rec.plain-it"]) {
      const { searched, tools } = search(query, 50, app.catalog);
      expect([searched, JSON.stringify(tools)]).toEqual([4, expect.not.stringMatching(hidden)]);
    }
    expect(JSON.stringify(search("server:rec", 50, app.catalog).tools)).not.toMatch(hidden);
    const nothing = overview("remove-it", app.catalog);
    expect(nothing).toMatchObject({
      near: expect.not.arrayContaining(["rec.remove-it"]),
      servers: [{ server: "rec", tools: 4 }],
    });
    for (const detail of ["names", "signatures", "full"]) {
      const { content } = await callSearchTools({ query: "server:rec", detail, limit: 50 }, app, signal);
      expect(JSON.stringify(content)).toContain("read");
      expect(JSON.stringify(content)).not.toMatch(hidden);
    }
    expect((await surfaceOf(app)).instructions).toContain("- rec (4)");
    expect(await instructionsFor(app)).toContain("read");
    expect(await instructionsFor(app)).not.toMatch(hidden);
    expect(
      JSON.stringify(
        await value("return [await tools.list(), await tools.list('rec'), await tools.search('remove it', 50)]"),
      ),
    ).not.toMatch(hidden);
    expect(await value("return tools.describe('rec.remove-it')")).toStartWith('No tool has the id "rec.remove-it"');
    expect(await value("return tools.describe('rec.remove-it')")).not.toMatch(/mean.*remove.it/);
  });

  test("are not in what code sees of a server", async () => {
    await recorded.open(keys, policy);
    const seen =
      await value(`import * as all from "./servers/rec"; const keys = []; for (const key in rec) keys.push(key);
      console.log(rec, servers, all); return [Object.keys(rec), keys, Object.keys(all), JSON.stringify(rec), { ...rec }]`);
    expect(JSON.stringify(seen)).toContain("read_it");
    expect(JSON.stringify(seen)).not.toMatch(hidden);
    const { logs } = await recorded.run("console.log(rec, servers)");
    expect(JSON.stringify(logs)).toContain("read_it");
    expect(JSON.stringify(logs)).not.toMatch(hidden);
  });

  test("are not suggested for unknown names", async () => {
    const app = await recorded.open(keys, policy);
    const { execute } = await import("../../src/programs/execute.ts");
    for (const source of [
      "return rec.remove_itt({})",
      "return rec.plain_i({})",
      "return callTool('rec', 'remove-itt', {})",
      "return __mcp_call('rec__plain_itt', {})",
      "import { remove_itt } from './servers/rec'; return remove_itt({})",
      "return remove_itt({})",
      "return rec['remove-i']({})",
      "return nobody.remove_itt({})",
    ]) {
      for (const check of ["error", "off"] as const) {
        const outcome = await execute({ source, check }, app);
        if (outcome.ok) throw new Error(source);
        expect([source, outcome.error.code === "POLICY_DENIED"]).toEqual([source, false]);
        const { stack: _, source: line, ...said } = outcome.error;
        expect(JSON.stringify([said, outcome.logs]).replaceAll(/remove.itt|plain.itt/g, "")).not.toMatch(
          /remove.it\b|plain.it\b/,
        );
      }
    }
    expect(recorded.got()).toEqual([]);
  });

  test("are not refused by the check before code runs: the call says why", async () => {
    const app = await recorded.open(keys, policy);
    const { execute } = await import("../../src/programs/execute.ts");
    const outcome = await execute({ source: "return rec.remove_it({ what: 1 })" }, app);
    expect(outcome).toMatchObject({ ok: false, reason: "threw", error: { code: "POLICY_DENIED", line: 1 } });
    // The error does not mention its arguments either.
    expect(JSON.parse(JSON.stringify(outcome))).not.toHaveProperty("error.hint");
  });
});

describe("the registry", () => {
  /** Every file of the registry, as one text. */
  const onDisk = () => {
    const { registry } = recorded.project;
    const files = readdirSync(registry, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
    return files.map(({ parentPath, name }) => `${name}\n${readFileSync(join(parentPath, name), "utf8")}`).join("\n");
  };

  test("has no file, index line or observed type of a denied tool", async () => {
    await recorded.open(denying);
    await recorded.run("await rec.read_it({}); await rec.add_it({}); return rec.remove_it({})");
    await recorded.reopen();
    expect(onDisk()).toMatch(/read.it/);
    expect(onDisk()).not.toMatch(hidden);
    expect(recorded.app.catalog.index.servers[0]).toMatchObject({ denied: 2, tools: { length: 4 } });
  });

  test("loses tools that are denied later as soon as it is read", async () => {
    await recorded.open({});
    await recorded.run("await rec.read_it({}); await rec.plain_it({}); return rec.remove_it({})");
    await recorded.reopen();
    expect(onDisk()).toMatch(/remove.it/);
    const { mcpServers } = JSON.parse(readFileSync(join(recorded.project.path, "claudikins.json"), "utf8"));
    recorded.project.write("claudikins.json", { mcpServers: { rec: { ...mcpServers.rec, ...denying } } });
    const app = await recorded.reopen();
    expect(app.catalog.index.servers).toHaveLength(1);
    expect(onDisk()).not.toMatch(hidden);
    const seen = await value(
      `const texts = [await fs.readFile("./registry/index.json", "utf8")];
       for (const file of await fs.readdir("./registry/test/rec")) texts.push(file, await fs.readFile("./registry/test/rec/" + file, "utf8"));
       return texts.join("\\n")`,
    );
    expect(seen).toMatch(/read.it/);
    expect(seen).not.toMatch(hidden);
  });

  test("gets tools again that are allowed later, without gen", async () => {
    await recorded.open(denying);
    const { mcpServers } = JSON.parse(readFileSync(join(recorded.project.path, "claudikins.json"), "utf8"));
    const { deny: _, ...rec } = mcpServers.rec;
    recorded.project.write("claudikins.json", { mcpServers: { rec } });
    await recorded.reopen();
    expect(await recorded.run("return rec.remove_it({})")).toMatchObject({ ok: true });
    expect(onDisk()).toMatch(/remove.it/);
  });

  test("does not hide why a tool is denied, even from a process that knows only the registry", async () => {
    await recorded.open(denying);
    const { execute } = await import("../../src/programs/execute.ts");
    for (const source of [
      "return rec.remove_it({})",
      "return rec['remove-it']({})",
      "return callTool('rec', ['remove', 'it'].join('-'), {})",
      "return __mcp_call('rec__remove_it', {})",
      "import { remove_it } from './servers/rec'; return remove_it({})",
    ]) {
      const outcome = await execute({ source }, await recorded.reopen());
      expect([source, outcome]).toMatchObject([source, { ok: false, error: { code: "POLICY_DENIED" } }]);
    }
    expect(recorded.got()).toEqual([]);
  });
});

describe("inside the sandbox", () => {
  const looks = [
    "Object.getOwnPropertyNames(rec)",
    "Reflect.ownKeys(rec).map(String)",
    "Object.getOwnPropertyNames(servers.rec)",
    "Object.keys(Object.getOwnPropertyDescriptors(rec))",
    "Object.entries(rec).map(String)",
    "(() => { const keys = []; for (const key in rec) keys.push(key); return keys; })()",
    "Object.getOwnPropertyNames(await import('./servers/rec'))",
    "Reflect.ownKeys(Object.assign(Object.create(null), rec)).map(String)",
    "(() => { const seen = []; const has = Map.prototype.get; Map.prototype.get = function (key) { seen.push([...this.keys()].join()); return has.call(this, key); }; void rec.nope; return seen; })()",
    "(() => { const seen = []; for (const name of ['forEach', 'map', 'filter', 'includes', 'find']) { const own = Array.prototype[name]; Array.prototype[name] = function (...all) { seen.push(JSON.stringify(this)); return own.apply(this, all); }; } void rec.nope; return seen; })()",
    "await tools.list('rec')",
    "(await callTool('rec', 'nope', {}).catch((error) => [error.message, error.hint]))",
    "Object.getOwnPropertyNames(globalThis)",
  ];

  test.each(looks)("%s does not show a denied tool", async (look) => {
    await recorded.open(denying);
    const outcome = await recorded.run(`return JSON.stringify(${look})`);
    expect(outcome).toMatchObject({ ok: true });
    expect(JSON.stringify(outcome)).not.toMatch(hidden);
  });
});

test("claudikins list counts denied tools", async () => {
  await recorded.open(denying);
  const run = (...argv: string[]) => cli(argv, { cwd: recorded.project.path });
  expect((await run("list")).stdout).toMatch(/^rec .* 4 \(2 denied, just now\)/m);
  expect((await run("list", "--check")).stdout).toMatch(/^rec .* 4 \(2 denied\) /m);
  expect(JSON.parse((await run("list", "--json")).stdout).servers).toMatchObject([
    { server: "rec", tools: 4, denied: 2 },
  ]);
  await recorded.open({ deny: ["other"] });
  expect((await run("list")).stdout).toMatch(/^rec .* 6 \(just now\)/m);
  expect(JSON.parse((await run("list", "--json")).stdout).servers[0]).not.toHaveProperty("denied");
});

test("a server whose tools are all denied is not started, and delays nothing", async () => {
  rmSync(recorded.project.registry, { recursive: true, force: true });
  for (const [keys, policy] of [
    [{ deny: ["*"] }, undefined],
    [{}, { deny: ["*.*"] }],
    [{ allow: [] }, undefined],
    [{}, { allow: ["other.*"] }],
  ]) {
    const rec = { ...fixture("recording", join(recorded.project.path, "got.jsonl")), ...keys };
    recorded.project.write("claudikins.json", {
      mode: "auto",
      mcpServers: { rec },
      ...(policy ? { policy } : {}),
    });
    const app = await recorded.reopen();
    expect(sessionMode(app)).toBe("direct");
    expect(await value("return tools.list()")).toEqual([{ server: "rec", tools: [], problem: "denied in the config" }]);
    expect(await value("return tools.search('remove it')")).toEqual([]);
    expect((await callSearchTools({ query: "remove it" }, app, signal)).content).toEqual([
      { type: "text", text: expect.not.stringContaining("rec") },
    ]);
    for (const name of ["remove_it", "nobody", "resources.list"]) {
      expect(await recorded.run(`return rec.${name}({})`)).toMatchObject({
        ok: false,
        error: { code: "POLICY_DENIED" },
      });
    }
    expect(app.pool.state("rec")).toEqual({ state: "idle" });
    expect(app.catalog.freshness("rec")).not.toBe("listed");
  }
});

describe("a pattern", () => {
  const named = (...names: string[]) => names.map((name) => ({ name }));

  test("matches the names of the server, not those in code", async () => {
    await recorded.open({ deny: ["get_sum"] }, undefined, named("get-sum"));
    // The pattern matches another name.
    expect(await recorded.run("return rec.get_sum({})")).toMatchObject({ ok: true });
    await recorded.open({ deny: ["get-sum"] }, undefined, named("get-sum"));
    expect(await recorded.run("return rec.get_sum({})")).toMatchObject({ ok: false, error: { code: "POLICY_DENIED" } });
    expect(recorded.got()).toEqual([]);
  });

  test("can deny one of two tools that have the same name in code", async () => {
    for (const [denied, called] of [
      ["get-sum", "get_sum"],
      ["get_sum", "get-sum"],
    ]) {
      const app = await recorded.open({ deny: [denied] }, undefined, named("get-sum", "get_sum", "get.sum"));
      await recorded.run(
        "return Promise.allSettled([rec.get_sum, rec['get-sum'], rec['get.sum'], servers.rec.get_sum].map((call) => call?.({})))",
      );
      for (const name of ["get-sum", "get_sum"]) await app.pool.callTool("rec", name, {}).catch(() => {});
      const got = recorded.got().map(({ name }) => name);
      expect(got).toContain(called);
      expect(got).not.toContain(denied);
    }
  });

  test("distinguishes upper and lower case", async () => {
    await recorded.open({ deny: ["Delete"] }, undefined, named("Delete", "delete"));
    expect(await recorded.run("return rec.delete({})")).toMatchObject({ ok: true });
    expect(await recorded.run("return rec.Delete({})")).toMatchObject({ ok: false, error: { code: "POLICY_DENIED" } });
    expect(recorded.got().map(({ name }) => name)).toEqual(["delete"]);
  });

  test("applies to tools that a server adds later", async () => {
    await recorded.open({ deny: ["drop*"] }, undefined, named("keep"));
    recorded.project.write("tools.json", named("keep", "drop_all"));
    expect(await recorded.run("await rec.keep({}); return rec.drop_all({})")).toMatchObject({ ok: false });
    expect(await recorded.run("return callTool('rec', 'drop_all', {})")).toMatchObject({ ok: false });
    await expect(recorded.app.pool.callTool("rec", "drop_all", {})).rejects.toMatchObject({
      code: "POLICY_DENIED",
    });
    expect(recorded.got().map(({ name }) => name)).toEqual(["keep"]);
  });

  test("can deny tools called constructor, __proto__ and *", async () => {
    const names = ["constructor", "__proto__", "*", "then", "hasOwnProperty"];
    await recorded.open({ deny: names.slice(0, 2) }, undefined, named(...names));
    for (const name of names) await recorded.app.pool.callTool("rec", name, {}).catch(() => {});
    expect(recorded.got().map(({ name }) => name)).toEqual(["*", "then", "hasOwnProperty"]);
  });
});

describe("resources, prompts and skills", () => {
  const calls = [
    "resources.list()",
    "resources.templates()",
    'resources.read("it://a")',
    "prompts.list()",
    'prompts.get("ask", {})',
    'resources.subscribe("it://a")',
    "skills.list()",
    'skills.read("it://a")',
  ];

  test("are not affected by patterns and lists of tools", async () => {
    await recorded.open({ allow: ["read-it"], deny: ["*-*"] });
    for (const call of calls) expect([call, (await recorded.run(`await rec.${call}`)).ok]).toEqual([call, true]);
    expect(recorded.got()).toEqual([
      { uri: "it://a" },
      { prompt: "ask" },
      { subscribed: "it://a" },
      { uri: "it://a" },
    ] as never);
  });

  test.each([
    ["its entry", { deny: ["*"] }, undefined, 'mcpServers.rec.deny[0], "*"'],
    ["the common policy", {}, { deny: ["rec.*"] }, 'policy.deny[0], "rec.*"'],
    ["a list that allows nothing", { allow: [] }, undefined, "mcpServers.rec.allow"],
    ["a common list that allows nothing of it", {}, { allow: ["other.*"] }, "policy.allow"],
  ])("are closed with the whole server, by %s", async (_, keys, policy, line) => {
    await recorded.open(keys, policy);
    for (const call of calls) {
      // The files of skills are resources.
      const name = call
        .replace("skills.read", "resources.read")
        .replace(/templates\(.*/, "templates.list")
        .replace(/\(.*/, "");
      expect([call, await recorded.run(`await rec.${call}`)]).toMatchObject([
        call,
        {
          ok: false,
          error: { code: "POLICY_DENIED", message: `rec.${name} is denied in the config by ${line}` },
        },
      ]);
    }
    expect(recorded.got()).toEqual([]);
  });
});
