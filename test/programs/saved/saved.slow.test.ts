/** Saved programs: how they are saved, found, called, limited, changed and run, from a shell and by agents. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { silentLog } from "../../../src/base/log.ts";
import { ProgramLibrary } from "../../../src/programs/saved/library.ts";
import { requestFor } from "../../../src/programs/saved/run.ts";
import { Scheduler } from "../../../src/programs/saved/scheduler.ts";
import { Schedules } from "../../../src/programs/saved/schedules.ts";
import { type CliOptions, cli } from "../../cli/in-memory.ts";
import { openHost } from "../../support/host.ts";
import { ownFolder } from "../../support/own-folder.ts";
import { fixture } from "../../support/servers.ts";
import { inSession } from "../../support/session.ts";

setDefaultTimeout(60_000);

const folder = ownFolder();

/** Runs a command that must succeed, on the demo. Returns its JSON. */
async function done(argv: string[], options: CliOptions = {}) {
  const result = await cli([...argv, "--json"], { cwd: folder.path, ...options });
  expect([argv, result.exitCode, result.stderr]).toEqual([argv, 0, expect.any(String)]);
  return JSON.parse(result.stdout);
}

/** The error of a command that must fail. */
async function refused(argv: string[], options: CliOptions = {}) {
  const result = await cli([...argv, "--json"], { cwd: folder.path, ...options });
  expect([argv, result.exitCode === 0]).toEqual([argv, false]);
  return JSON.parse(result.stderr.trim().split("\n").at(-1) ?? "").error as {
    code: string;
    message: string;
    hint: string;
  };
}

const report = `/** Counts the orders of a status. */
const { orders } = await demo.list_orders({ status: "paid", limit: 3 });
return { status: "paid", count: orders.length };
`;

async function saveReport() {
  folder.write("report.ts", report);
  return done(["programs", "save", "report.ts", "--name", "count-orders", "status=paid", "limit:=3"]);
}

describe("saving", () => {
  test("values become inputs with the types of the tools that get them, and the calls are noted", async () => {
    expect(await saveReport()).toMatchObject({
      name: "count-orders",
      state: "new",
      call: "programs.count_orders({ status, limit })",
      calls: ["demo.list_orders"],
      replaced: [
        { input: "status", places: 2 },
        { input: "limit", places: 1 },
      ],
    });
    const { input, code, description } = await done(["programs", "show", "count-orders"]);
    expect(description).toBe("Counts the orders of a status.");
    expect(code).toContain("status: input.status, limit: input.limit");
    expect(code).toContain("return { status: input.status, count: orders.length };");
    expect(input).toMatchObject({ type: "object", required: ["status", "limit"], additionalProperties: false });
    expect(input.properties.status.enum).toContain("shipped");
    expect(input.properties.limit).toMatchObject({ type: "integer", examples: [3] });
  });

  test("keys, modules and parts of texts do not become inputs", async () => {
    folder.write(
      "odd.ts",
      `const table: Record<string, number> = { paid: 1, "paid": 2 };\nreturn [table["paid"], "unpaid", "paid" as string];`,
    );
    const { code, replaced } = await done(["programs", "save", "odd.ts", "--name", "odd", "status=paid"]);
    expect(replaced).toEqual([{ input: "status", places: 1 }]);
    expect(code).toContain(`{ paid: 1, "paid": 2 }`);
    expect(code).toContain(`[table["paid"], "unpaid", input.status as string]`);
    expect((await done(["programs", "run", "odd", "status=open"])).value).toEqual([2, "unpaid", "open"]);
  });

  test("a program that reads its input itself needs no values", async () => {
    folder.write("own.ts", "const { month, year = 2026 } = input;\nreturn `${year}-${month} ${input.day}`;");
    const { call } = await done(["programs", "save", "own.ts", "--name", "own"]);
    expect(call).toBe("programs.own({ month, year, day })");
    expect((await done(["programs", "run", "own", "month=10", "day=1"])).value).toBe("2026-10 1");
  });

  test.each([
    [["save", "report.ts"], "USAGE", "needs a name"],
    [["save", "report.ts", "--name", "Report One"], "INVALID_ARGUMENTS", "lower-case letters"],
    [["save", "report.ts", "--name", "save"], "INVALID_ARGUMENTS", "the name of a function"],
    [["save", "report.ts", "--name", "x", "status=gone"], "INVALID_ARGUMENTS", "could become input.status"],
    [["save", "broken.ts", "--name", "x"], "INVALID_ARGUMENTS", "cannot be saved"],
    [["save", "taken.ts", "--name", "x"], "INVALID_ARGUMENTS", 'a variable "input" of its own'],
    [["save", "empty.ts", "--name", "x"], "INVALID_ARGUMENTS", "empty"],
    [["save", "missing.ts", "--name", "x"], "FILE_NOT_FOUND", "does not exist"],
    [["save", "last", "--name", "x"], "EXECUTION_NOT_FOUND", "no execution that worked is stored"],
    [["show", "count-order"], "PROGRAM_NOT_FOUND", 'No saved program is called "count-order"'],
    [["run", "count-orders", "status=none", "limit=1"], "INVALID_ARGUMENTS", "status"],
    [["run", "count-orders", "month=1"], "INVALID_ARGUMENTS", "month"],
    [["remove", "count-orders", "other"], "PROGRAM_NOT_FOUND", '"other"'],
  ])("programs %j is refused with %s", async (argv, code, message) => {
    await saveReport();
    folder.write("broken.ts", "return (1;");
    folder.write("taken.ts", "const input = 3; return input;");
    folder.write("empty.ts", " \n");
    expect(await refused(["programs", ...argv])).toMatchObject({ code, message: expect.stringContaining(message) });
    expect((await done(["programs"])).programs).toHaveLength(1);
  });

  test("an execution that was recorded with its contents can be saved", async () => {
    folder.write("report.ts", report);
    await done(["exec", "report.ts", "--record"]);
    await done(["exec", "-e", "return 1"]);
    const { code, calls } = await done(["programs", "save", "last", "--name", "from-record"]);
    expect({ code, calls }).toEqual({ code: report, calls: ["demo.list_orders"] });
  });

  test("the files are private, outside of the project, and one that is damaged is named", async () => {
    await saveReport();
    const programs = join(folder.path, ".local/share/claudikins/programs/demo");
    expect(readdirSync(programs).filter((name) => !name.startsWith("."))).toEqual(["count-orders.json"]);
    const file = join(programs, "count-orders.json");
    if (process.platform !== "win32") expect(statSync(file).mode & 0o077).toBe(0);
    await Bun.write(file, readFileSync(file, "utf8").slice(0, 40));
    const error = await refused(["programs", "list"]);
    expect(error).toMatchObject({ code: "CONFIG_INVALID", message: expect.stringContaining(file) });
    expect(error.hint).toContain("claudikins programs remove count-orders");
    folder.write("other.ts", "return 7;");
    await done(["programs", "save", "other.ts", "--name", "other"]);
    expect((await done(["exec", "-e", "return programs.other()"])).value).toBe(7);
    await done(["programs", "remove", "count-orders"]);
    expect((await done(["programs"])).programs).toMatchObject([{ name: "other" }]);
  });
});

describe("a change", () => {
  test("is shown, needs consent, and is told to those who use the program", async () => {
    await saveReport();
    folder.write(
      "other.ts",
      `const { total } = await demo.list_orders({ status: input.status });\nreturn (await demo.get_stock({ sku: input.sku, n: total }));`,
    );
    const change = ["programs", "save", "other.ts", "--name", "count-orders"];
    const { code, message, hint } = await refused(change);
    expect({ code, hint }).toMatchObject({ code: "USAGE", hint: expect.stringContaining("--replace") });
    expect(message).toContain("limit was removed; sku is new");
    expect(message).toContain("it may call demo.get_stock");
    const denied = await cli(change, { cwd: folder.path, answers: ["n"], terminal: true });
    expect(denied.stderr).toContain("Replace the program");
    expect((await done(["programs", "show", "count-orders"])).changed).toBeUndefined();
    expect((await done([...change, "--replace"])).state).toBe("changed");
    expect((await done(["programs", "show", "count-orders"])).changed).toContain("it may call demo.get_stock");
    const { stdout } = await cli(["search", "count the orders of a status"], { cwd: folder.path });
    expect(stdout).toContain("Changed on 20");
    expect((await done([...change, "--replace"])).state).toBe("unchanged");
  });

  test("to the permissions keeps everything else", async () => {
    await saveReport();
    const before = await done(["programs", "show", "count-orders"]);
    await done(["programs", "save", "count-orders", "--call", "demo.get_order", "--replace"]);
    const { calls, input, code, description } = await done(["programs", "show", "count-orders"]);
    expect(calls).toEqual(["demo.get_order", "demo.list_orders"]);
    expect({ input, code, description }).toEqual({
      input: before.input,
      code: before.code,
      description: before.description,
    });
  });
});

describe("a call", () => {
  test("is made from the shell, from code and as a tool", async () => {
    await saveReport();
    const expected = { status: "shipped", count: 2 };
    expect((await done(["programs", "run", "count-orders", "status=shipped", "limit=2"])).value).toEqual(expected);
    expect((await done(["call", "programs.count-orders", "status=shipped", "limit=2"])).value).toEqual(expected);
    const code = `return programs.count_orders({ status: "shipped", limit: 2 })`;
    expect((await done(["exec", "-e", code])).value).toEqual(expected);
    const { programs } = await done(["programs"]);
    expect(programs[0].lastRun).toMatchObject({ ok: true });
  });

  test.each([
    ["return input.value", 7, 7],
    ["return input.value", "7", "7"],
    ["return input.value", [1, "2", null], [1, "2", null]],
    ["return input.value", "", ""],
    ["return input.value", false, false],
    ["return input.value", null, null],
    ["return input.value", { a: [{ b: 1 }] }, { a: [{ b: 1 }] }],
    ["return Object.keys(input.value)", JSON.parse('{"__proto__": 1}'), ["__proto__"]],
    ["return undefined", 1, null],
    ["return input.value", "\u2028\"'`${1}\\", "\u2028\"'`${1}\\"],
  ])("%s with %j arrives as it is", async (code, value, expected) => {
    folder.write("value.ts", `${code} ?? input.value;`.replace(" ?? input.value", ""));
    await done([
      "programs",
      "save",
      "value.ts",
      "--name",
      "value",
      "--input-schema",
      '{"type":"object","properties":{"value":{}}}',
    ]);
    const source = `return [await programs.value(JSON.parse(${JSON.stringify(JSON.stringify({ value }))}))]`;
    const [got] = (await done(["exec", "-e", source])).value;
    expect(got).toEqual(expected);
  });

  test("to something that was not named when it was saved is denied, on every way", async () => {
    folder.write(
      "sly.ts",
      `const name = "refund" + "_order"; return demo[name]({ order_id: "ord_00001", reason: "x" });`,
    );
    const { calls } = await done(["programs", "save", "sly.ts", "--name", "sly"]);
    expect(calls).toEqual([]);
    const { message, hint } = await refused(["programs", "run", "sly"]);
    expect(message).toContain('The saved program "sly" may not call demo.refund_order: it may call nothing');
    expect(hint).toContain("--call demo.refund_order");
    expect((await refused(["exec", "-e", "return programs.sly()"])).message).toContain(
      "may not call demo.refund_order",
    );
    expect((await refused(["call", "programs.sly"])).message).toContain("may not call demo.refund_order");
    for (const code of [
      "return demo.resources.list()",
      "return callTool('demo', 'list_orders', {})",
      "return servers['demo']['list_' + 'orders']({})",
      "return programs['sly' + 'er']({})",
      "return programs['sa' + 've']({ name: 'x' })",
    ]) {
      folder.write("sly.ts", code);
      await done(["programs", "save", "sly.ts", "--name", "slyer", "--replace"]);
      const { calls: named } = await done(["programs", "show", "slyer"]);
      if (named.length > 0) continue;
      expect([code, (await refused(["programs", "run", "slyer"])).message]).toEqual([
        code,
        expect.stringMatching(/may not call|has worked yet|is not a function/),
      ]);
    }
  });

  test("from program to program ends at a depth", async () => {
    folder.write("loop.ts", "return 1;");
    await done(["programs", "save", "loop.ts", "--name", "loop"]);
    folder.write("loop.ts", "return programs.loop();");
    const { calls } = await done(["programs", "save", "loop.ts", "--name", "loop", "--replace"]);
    expect(calls).toEqual(["programs.loop"]);
    expect((await refused(["programs", "run", "loop"])).message).toContain("call each other more than 5 deep");
  });

  test("more programs than run at once call others without waiting for each other", async () => {
    folder.write("one.ts", "return input.n + 1;");
    await done([
      "programs",
      "save",
      "one.ts",
      "--name",
      "one",
      "--input-schema",
      '{"type":"object","properties":{"n":{"type":"number"}}}',
    ]);
    folder.write("two.ts", "return programs.one({ n: input.n });");
    await done([
      "programs",
      "save",
      "two.ts",
      "--name",
      "two",
      "--input-schema",
      '{"type":"object","properties":{"n":{"type":"number"}}}',
    ]);
    const code =
      "return (await Promise.all(Array.from({ length: 40 }, (_, n) => programs.two({ n })))).reduce((a, b) => a + b)";
    expect((await done(["exec", "-e", code])).value).toBe(820);
  });
});

test("a running serve has a program as soon as it is saved, and loses it when it is removed", async () => {
  await using host = await openHost(folder);
  const run = async (code: string) => JSON.stringify(await host.call("execute_code", { code }));
  expect(await run(report)).toContain("count");
  const saved = await run(`return programs.save({ name: "count-orders", input: { status: "paid" } })`);
  expect(saved).toContain("programs.count_orders");
  expect(JSON.stringify(await host.call("search_tools", { query: "count the orders of a status" }))).toContain(
    "programs.count_orders",
  );
  expect(await run(`return programs.count_orders({ status: "shipped" })`)).toContain("shipped");
  expect(await run(`return programs.count_orders({ state: "shipped" })`)).toContain("status");
  await done(["programs", "remove", "count-orders"], { env: { XDG_DATA_HOME: join(folder.path, "data") } });
  expect(await run(`return programs.count_orders({ status: "shipped" })`)).toContain("count_orders");
});

test("a server of the config that is called programs stays what it is", async () => {
  folder.write("tools.json", [{ name: "save", description: "Saves.", inputSchema: { type: "object" } }]);
  folder.write("claudikins.json", { mcpServers: { programs: fixture("from-file", join(folder.path, "tools.json")) } });
  folder.write("one.ts", "return 1;");
  await done(["programs", "save", "one.ts", "--name", "one"]);
  const { value } = await done(["exec", "-e", "return await programs.save({})"]);
  expect(value).toBeDefined();
  const { servers } = await done(["list"]);
  expect(servers.map(({ server }: { server: string }) => server)).toEqual(["programs"]);
});

describe("an agent", () => {
  const textOf = async (client: Client, name: string, args: object) => {
    const { content } = (await client.callTool({ name, arguments: { ...args } })) as { content: { text: string }[] };
    return content.map(({ text }) => text).join("\n");
  };

  test("saves its last program, finds it, and calls it in the same session", async () => {
    await inSession(folder.path, async (client) => {
      const run = (code: string) => textOf(client, "execute_code", { code });
      expect(await run("return programs.save({ name: 'early' })")).toContain(
        "No program that could be saved has worked yet",
      );
      await run(report);
      await run("throw new Error('this one fails')");
      const saved = await run(`return programs.save({ name: "count-orders", input: { status: "paid" } })`);
      expect(saved).toContain("programs.count_orders({ status })");
      expect(saved).toContain("demo.list_orders");
    });
    await inSession(folder.path, async (client) => {
      const found = await textOf(client, "search_tools", { query: "count the orders of a status" });
      expect(found).toContain("programs.count_orders");
      const code = `return programs.count_orders({ status: "shipped" })`;
      expect(await textOf(client, "execute_code", { code })).toContain('"status": "shipped"');
    });
    expect((await done(["programs"])).programs).toMatchObject([{ name: "count-orders", savedBy: "agent" }]);
  });

  test("replaces what agents have saved, and never what the user has", async () => {
    await saveReport();
    await inSession(folder.path, async (client) => {
      const run = (code: string) => textOf(client, "execute_code", { code });
      await run("return 1");
      expect(await run("return programs.save({ name: 'count-orders' })")).toContain("was saved by the user");
      expect(await run("return programs.save({ name: 'mine' })")).toContain('"state": "new"');
      await run("return 2");
      expect(await run("return programs.save({ name: 'mine' })")).toContain('"state": "changed"');
    });
    expect((await done(["programs", "show", "count-orders"])).savedBy).toBe("user");
  });

  test("asks how a program ran in the background, and gets its values", async () => {
    await saveReport();
    await inSession(folder.path, async (client, app) => {
      const run = (code: string) => textOf(client, "execute_code", { code });
      expect(await run("return programs.runs({ name: 'count-orders' })")).toContain('{"schedules": [], "runs": []}');
      const executions = await app.executions();
      const program = new ProgramLibrary(app.config.savedPrograms).get("count-orders");
      for (const status of ["paid", "shipped"]) {
        const request = await requestFor(program, { status, limit: 1 });
        await executions.start(request, app, { isBackground: true }).outcome;
      }
      const told = await run(
        "return (await programs.runs({ name: 'count-orders' })).runs.map(r => [r.state, r.value.status])",
      );
      expect(told.replace(/\s+/g, "")).toContain('[["ok","shipped"],["ok","paid"]]');
      expect(await run("return programs.runs({ name: 'count-order' })")).toContain("Did you mean count-orders");
    });
  });

  test("loads nothing more if no program is saved", async () => {
    await done(["gen"]);
    const surface = async (client: Client) => [await client.listTools(), client.getInstructions()];
    const before = await inSession(folder.path, surface);
    await saveReport();
    await done(["programs", "remove", "count-orders"]);
    expect(await inSession(folder.path, surface)).toEqual(before);
  });
});

test("a door has its own programs", async () => {
  const tools = [{ name: "get_issue", description: "Reads an issue.", inputSchema: { type: "object" } }];
  folder.write("tools.json", tools);
  const jira = fixture("from-file", join(folder.path, "tools.json"));
  folder.write("claudikins.json", { mcpServers: { jira }, doors: { qa: { servers: ["jira"] } } });
  folder.write("one.ts", "return 'sesame';");
  await done(["programs", "save", "one.ts", "--name", "open-sesame"]);
  expect((await done(["programs", "--door", "qa"])).programs).toEqual([]);
  const { stdout, stderr } = await cli(["exec", "--door", "qa", "-e", "return programs.open_sesame()"], {
    cwd: folder.path,
  });
  expect(stdout + stderr).not.toContain("sesame'");
  expect((await refused(["programs", "show", "open-sesam", "--door", "qa"])).hint).not.toContain("sesame");
  await done(["programs", "save", "one.ts", "--name", "ours", "--door", "qa"]);
  expect((await done(["exec", "--door", "qa", "-e", "return programs.ours()"])).value).toBe("sesame");
  expect((await done(["programs"])).programs).toMatchObject([{ name: "open-sesame" }]);
});

describe("a program of the user that calls one of an agent", () => {
  const nightly = ["programs", "run", "nightly"];
  const textOf = async (client: Client, code: string) => {
    const { content } = (await client.callTool({ name: "execute_code", arguments: { code } })) as {
      content: { text: string }[];
    };
    return content[0]!.text;
  };
  /** An agent runs a program, and saves it. */
  const byAgent = (name: string, code: string) =>
    inSession(folder.path, async (client) => {
      await textOf(client, code);
      expect(await textOf(client, `return programs.save({ name: "${name}" })`)).toContain('"saved"');
    });

  async function saved() {
    await byAgent("leaf", 'return "leaf"');
    await byAgent("helper", 'return "helper of " + await programs.leaf();');
    folder.write("nightly.ts", 'return "nightly: " + await programs.helper();');
    await done(["programs", "save", "nightly.ts", "--name", "nightly"]);
    expect((await done(nightly)).value).toBe("nightly: helper of leaf");
  }

  test.each(["helper", "leaf"])(
    "does not run after an agent has replaced %s, until the user accepts that",
    async (changed) => {
      await saved();
      await byAgent(changed, 'return "something else";');
      const { code, message, hint } = await refused(nightly);
      expect({ code, message }).toEqual({
        code: "DEFINITION_CHANGED",
        message: expect.stringMatching(
          new RegExp(`"nightly" is held: it calls "${changed}", which was changed by an agent on`),
        ),
      });
      expect(hint).toContain("claudikins programs accept nightly");
      const inCode = await done(["exec", "-e", "return programs.nightly().catch((error) => error.message)"]);
      expect(inCode.value).toContain('"nightly" is held');
      const listed = (await done(["programs"])).programs as { name: string; held?: string[] }[];
      expect(listed.find(({ name }) => name === "nightly")?.held).toEqual([changed]);
      expect(await refused(["programs", "accept", "nightly"])).toMatchObject({ code: "USAGE" });
      expect(await done(["programs", "accept", "nightly", "--yes"])).toEqual({
        name: "nightly",
        version: 1,
        accepted: [changed],
      });
      expect((await done(nightly)).value).toContain("something else");
    },
  );

  test("does not call one that was saved since, or that is removed and saved again", async () => {
    folder.write("nightly.ts", 'return "nightly: " + await programs.helper();');
    await done(["programs", "save", "nightly.ts", "--name", "nightly", "--call", "programs.helper"]);
    await byAgent("helper", 'return "planted"');
    expect((await refused(nightly)).message).toContain('it calls "helper"');
    await done(["programs", "accept", "nightly", "--yes"]);
    await done(["programs", "remove", "helper"]);
    expect((await refused(nightly)).message).toContain('"helper", which was removed');
    await byAgent("helper", 'return "planted again"');
    expect((await refused(nightly)).code).toBe("DEFINITION_CHANGED");
  });

  test("on a schedule, records a run that failed with the reason, and calls nothing", async () => {
    await saved();
    await done(["programs", "schedule", "nightly", "--cron", "0 8 * * *", "--zone", "UTC"]);
    await byAgent("helper", 'return "planted"');
    await inSession(folder.path, async (_, app) => {
      const places = [
        { place: app.config.savedPrograms, open: async () => ({ executions: await app.executions(), parts: app }) },
      ];
      const scheduler = new Scheduler(places, silentLog, () => Date.now() + 25 * 3_600_000);
      await scheduler.look();
      await scheduler.close();
      expect(new Schedules(app.config.savedPrograms).find("nightly")?.lastRun?.end).toMatchObject({
        ok: false,
        message: expect.stringContaining('"nightly" is held: it calls "helper"'),
      });
      expect(await (await app.executions()).stored.list(app)).toEqual([]);
    });
  });

  test("is also one that an agent has saved and the user schedules", async () => {
    await byAgent("helper", 'return "helper"');
    await byAgent("weekly", "return programs.helper();");
    await done(["programs", "schedule", "weekly", "--cron", "0 8 * * *", "--zone", "UTC"]);
    await byAgent("helper", 'return "planted"');
    expect((await refused(["programs", "run", "weekly"])).code).toBe("DEFINITION_CHANGED");
  });
});

test("a program that is saved of a recorded execution has the labels of what that had read", async () => {
  const list = folder.write("tools.json", [{ name: "get_key", answers: "secret" }]);
  const rec = { ...fixture("recording", join(folder.path, "got.jsonl"), list), labels: { get_key: ["private"] } };
  folder.write("claudikins.json", { mcpServers: { rec } });
  await done(["exec", "-e", "return rec.get_key({})", "--record"]);
  await done(["programs", "save", "last", "--name", "key"]);
  const labels = [{ label: "private", source: "rec.get_key" }];
  expect((await done(["programs", "show", "key"])).labels).toEqual(labels);
  // A change of what it may call keeps them.
  await done(["programs", "save", "key", "--call", "rec.other", "--replace"]);
  expect((await done(["programs", "show", "key"])).labels).toEqual(labels);
});
