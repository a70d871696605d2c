/** Dry runs at real servers: calls that change something are recorded, and nothing that outlives the run is changed. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DryRun } from "../../src/programs/dry-run/dry-run.ts";
import { execute } from "../../src/programs/execute.ts";
import type { Outcome } from "../../src/sandbox/contract.ts";
import { cli } from "../cli/in-memory.ts";
import { filesystem, fixture, memory } from "../support/servers.ts";
import { inSession, ledgerOf } from "../support/session.ts";
import { type Project, project } from "../tools/generation/project.ts";

setDefaultTimeout(60_000);

let folder: Project;
let counts: string;
let data: string;
let graph: string;
beforeEach(() => {
  folder = project();
  counts = join(folder.path, "counts");
  data = join(folder.path, "data");
  graph = join(folder.path, "graph.jsonl");
  mkdirSync(data);
});
afterEach(() => folder[Symbol.dispose]());

const counting = () => fixture("counting", counts);

/** The calls that the server has received. */
const received = () => (existsSync(counts) ? readFileSync(counts, "utf8").trim().split("\n") : []);

async function run(source: string, { isDry = true } = {}): Promise<Outcome> {
  await using app = await folder.open();
  return await execute({ source, dryRun: isDry ? new DryRun() : undefined }, app);
}

function resultOf(outcome: Outcome): unknown {
  return outcome.ok ? outcome.value : outcome.error.message;
}

const plannedIn = ({ dryRun }: Outcome) =>
  dryRun?.calls.map(({ server, tool, arguments: args }) => [`${server}.${tool}`, args]);

describe("a dry run", () => {
  test("skips long times in which a program only waits, and keeps the order of its timers", async () => {
    folder.configure({ counting: counting() });
    const outcome = await run(`
      const seen = [];
      setTimeout(() => seen.push("an hour"), 3_600_000);
      setTimeout(() => seen.push("a minute"), 60_000);
      await sleep("2h");
      await counting.act({ name: "later" });
      return seen;`);
    expect(resultOf(outcome)).toEqual(["a minute", "an hour"]);
    expect(plannedIn(outcome)).toEqual([["counting.act", { name: "later" }]]);
  });

  test("calls tools that read, and records the others in their order", async () => {
    folder.configure({ counting: counting() });
    const outcome = await run(`
      const { count } = await counting.read({ name: "before" });
      await counting.act({ name: "first" });
      const both = await Promise.all([counting.act({ name: "second" }), counting.read({ name: "between" }), counting.wait({ name: "third" })]);
      return { count, both };`);
    expect(resultOf(outcome)).toEqual({ count: 1, both: [{ "made-up": true }, { count: 2 }, { "made-up": true }] });
    expect(plannedIn(outcome)).toEqual([
      ["counting.act", { name: "first" }],
      ["counting.act", { name: "second" }],
      ["counting.wait", { name: "third" }],
    ]);
    expect(outcome.dryRun?.calls.map(({ line }) => line)).toEqual([3, 4, 4]);
    expect(outcome.receipt).toMatchObject({ calls: 5, failures: 0, notMade: 3 });
    expect(received()).toEqual(['["read","before"]', '["read","between"]']);
  });

  test("answers with the declared type, and raw calls get a whole result", async () => {
    folder.configure({ files: filesystem(data), memory: memory(graph) });
    const outcome = await run(`
      const path = ${JSON.stringify(join(data, "a.txt"))};
      const entity = { name: "x", entityType: "t", observations: [] };
      return {
        written: await files.write_file({ path, content: "a" }),
        raw: await files.write_file.raw({ path, content: "b" }),
        made: await memory.create_entities({ entities: [entity] }),
        names: await files.list_directory({ path: ${JSON.stringify(data)} }),
      };`);
    expect(resultOf(outcome)).toEqual({
      written: { content: "made-up" },
      raw: {
        content: [{ type: "text", text: '{"content":"made-up"}' }],
        structuredContent: { content: "made-up" },
      },
      made: { entities: [{ name: "made-up", entityType: "made-up", observations: ["made-up"] }] },
      names: { content: "" },
    });
    expect([readdirSync(data), existsSync(graph)]).toEqual([[], false]);
    expect(plannedIn(outcome)?.map(([id]) => id)).toEqual([
      "files.write_file",
      "files.write_file",
      "memory.create_entities",
    ]);
  });

  test("answers with the observed type of a tool that declares none, and learns nothing from what is made up", async () => {
    folder.configure({ counting: counting() });
    expect(resultOf(await run('return await counting.act({ name: "first" })', { isDry: true }))).toEqual({
      "made-up": true,
    });
    expect(resultOf(await run('return await counting.act({ name: "real" })', { isDry: false }))).toEqual({ count: 1 });
    expect(resultOf(await run('return await counting.act({ name: "second" })'))).toEqual({ count: 1 });
    expect(received()).toEqual(['["act","real"]']);
    const observed = readFileSync(join(folder.registry, "observed.json"), "utf8");
    expect(observed).not.toContain("made-up");
  });

  test("refuses wrong arguments and denied tools as a real run does", async () => {
    folder.write("claudikins.json", { mcpServers: { counting: { ...counting(), deny: ["wait"] } } });
    const errors = `const errors = [];
      for (const [tool, args] of [["act", { name: 1 }], ["wait", {}], ["none", {}]]) {
        try { await callTool("counting", tool, args); } catch (error) { errors.push([error.code, error.message]); }
      }
      return errors;`;
    const dry = await run(errors);
    expect(resultOf(dry)).toEqual([
      ["INVALID_ARGUMENTS", expect.any(String)],
      ["POLICY_DENIED", expect.any(String)],
      ["TOOL_NOT_FOUND", expect.any(String)],
    ]);
    expect(resultOf(dry)).toEqual(resultOf(await run(errors, { isDry: false })));
    expect([dry.dryRun?.calls, received()]).toEqual([[], []]);
  });

  test("asks nobody, and says which calls need an approval, even of tools that read", async () => {
    folder.write("claudikins.json", {
      mcpServers: { counting: { ...counting(), confirm: { read: "always", act: "destructive", wait: "never" } } },
    });
    const outcome = await run("await counting.read({}); await counting.act({}); await counting.wait({});");
    expect(outcome.dryRun?.calls.map(({ tool, approval }) => [tool, approval])).toEqual([
      ["read", expect.stringContaining('says "always"')],
      ["act", expect.stringContaining("says nothing about what the tool changes")],
      ["wait", undefined],
    ]);
    expect(received()).toEqual([]);
  });

  test("counts no call for a quota that it does not make", async () => {
    folder.write("claudikins.json", { mcpServers: { counting: counting() }, quotas: { callsPerMinute: 1 } });
    const outcome = await run("for (let n = 0; n < 5; n++) await counting.act({}); return await counting.read({});");
    expect(resultOf(outcome)).toEqual({ count: 1 });
  });

  test("changes a copy of the workspace, which is removed", async () => {
    folder.configure({ counting: counting() });
    folder.write(".claudikins/workspace/skills/old.ts", 'export const old = () => "old";');
    folder.write(".claudikins/workspace/kept.txt", "kept");
    folder.write("secret", "secret");
    symlinkSync(join(folder.path, "secret"), join(folder.path, ".claudikins/workspace/link"));
    const files = () => readdirSync(join(folder.path, ".claudikins/workspace"), { recursive: true }).sort();
    const before = files();
    const copies = () => readdirSync(tmpdir()).filter((name) => name.startsWith("claudikins-dry-run-"));
    const outcome = await run(`
      import { old } from "./skills/old";
      const before = await fs.readFile("./workspace/kept.txt", "utf8");
      await fs.writeFile("./workspace/skills/made.ts", "export const made = () => 42;");
      await fs.appendFile("./workspace/kept.txt", " and changed");
      await fs.mkdir("./workspace/a/b", { recursive: true });
      await fs.rename("./workspace/kept.txt", "./workspace/a/b/moved.txt");
      const { made } = await import("./skills/made");
      return [old(), before, made(), await fs.readFile("./workspace/a/b/moved.txt", "utf8"), (await fs.readdir("./workspace")).sort()];`);
    expect(resultOf(outcome)).toEqual(["old", "kept", 42, "kept and changed", ["a", "skills"]]);
    expect(files()).toEqual(before);
    expect(readFileSync(join(folder.path, ".claudikins/workspace/kept.txt"), "utf8")).toBe("kept");
    expect(copies()).toEqual([]);
  });

  test("does not create a workspace", async () => {
    folder.configure({ counting: counting() });
    const outcome = await run(
      'await fs.writeFile("./workspace/a", "x"); return await fs.readFile("./workspace/a", "utf8")',
    );
    expect([resultOf(outcome), existsSync(join(folder.path, ".claudikins/workspace"))]).toEqual(["x", false]);
  });

  test("lists what a failed program has come to", async () => {
    folder.configure({ counting: counting() });
    const outcome = await run('await counting.act({ name: "a" }); throw new Error("stop");');
    expect([outcome.ok, plannedIn(outcome)]).toEqual([false, [["counting.act", { name: "a" }]]]);
  });

  test("lists at most 1,000 calls, and counts the others", async () => {
    folder.configure({ counting: counting() });
    const outcome = await run("for (let n = 0; n < 1_003; n++) await counting.act({ name: String(n) });");
    expect([outcome.dryRun?.calls.length, outcome.dryRun?.more, outcome.receipt.notMade]).toEqual([1_000, 3, 1_003]);
  });

  test("keeps at most a million characters of arguments", async () => {
    folder.configure({ counting: counting() });
    const outcome = await run('for (const n of [600_000, 600_000, 3]) await counting.act({ name: "x".repeat(n) });');
    const [first, second, third] = outcome.dryRun?.calls ?? [];
    expect([first?.arguments === undefined, second?.arguments, third?.arguments]).toEqual([
      false,
      undefined,
      { name: "xxx" },
    ]);
    expect(second?.argumentChars).toBe(600_011);
  });
});

describe("saved programs", () => {
  const inner = 'await counting.act({ name: "inner" }); return await counting.read({ name: "seen" });';

  async function save(): Promise<void> {
    folder.configure({ counting: counting() });
    folder.write("inner.ts", inner);
    const saved = await cli(["programs", "save", "inner.ts", "--name", "inner"], { cwd: folder.path });
    expect({ exitCode: saved.exitCode, stderr: saved.stderr }).toEqual({ exitCode: 0, stderr: "" });
  }

  test("run dry when a dry run calls them, and their calls stand in their place", async () => {
    await save();
    const outcome = await run(`
      await counting.act({ name: "before" });
      const [value] = await Promise.all([programs.inner(), counting.act({ name: "beside" })]);
      await counting.act({ name: "after" });
      return value;`);
    expect(resultOf(outcome)).toEqual({ count: 1 });
    expect(plannedIn(outcome)?.map(([, args]) => (args as { name: string }).name)).toEqual([
      "before",
      "inner",
      "beside",
      "after",
    ]);
    expect(outcome.receipt).toMatchObject({ calls: 4, notMade: 3 });
    expect(received()).toEqual(['["read","seen"]']);
  });

  test("run dry from the shell, and do not count as their last run", async () => {
    await save();
    const { exitCode, stdout } = await cli(["programs", "run", "inner", "--dry-run", "--json"], { cwd: folder.path });
    const { value, dryRun } = JSON.parse(stdout);
    expect([exitCode, value, dryRun]).toEqual([
      0,
      { count: 1 },
      {
        calls: [{ server: "counting", tool: "act", arguments: { name: "inner" }, argumentChars: 16, line: 1 }],
        more: 0,
      },
    ]);
    const { programs } = JSON.parse((await cli(["programs", "list", "--json"], { cwd: folder.path })).stdout);
    expect(programs).toMatchObject([{ name: "inner" }]);
    expect(programs[0]).not.toHaveProperty("lastRun");
  });

  test("are not saved by a dry run, and a dry run is not the last program", async () => {
    folder.configure({ counting: counting() });
    await inSession(folder.path, async (client) => {
      const call = async (args: Record<string, unknown>) => {
        const { content } = (await client.callTool({ name: "execute_code", arguments: args })) as {
          content: { text: string }[];
        };
        return content.map(({ text }) => text).join("\n");
      };
      await call({ code: "return await counting.read({})" });
      await call({ code: "return await counting.act({})", dry_run: true });
      const dry = await call({ code: 'return await programs.save({ name: "dry" })', dry_run: true });
      expect(dry).toContain('1. programs.save({"name":"dry"}) // line 1');
      const saved = await call({ code: 'return await programs.save({ name: "real" })' });
      expect(saved).toContain("counting.read");
    });
    const { programs } = JSON.parse((await cli(["programs", "list", "--json"], { cwd: folder.path })).stdout);
    expect(programs).toMatchObject([{ name: "real" }]);
  });
});

describe("the answer", () => {
  const code = 'await counting.act({ name: "a" }); await counting.act({}); return await counting.read({});';

  test("has the value on stdout and the calls on stderr in a shell", async () => {
    folder.configure({ counting: counting() });
    const { exitCode, stdout, stderr } = await cli(["exec", "--dry-run", "-e", code], { cwd: folder.path });
    expect([exitCode, JSON.parse(stdout)]).toEqual([0, { count: 1 }]);
    expect(stderr.replace(/ · [\d.]+ m?s\]/, "]")).toBe(
      'Would have called (in order; results are made up):\n1. counting.act({"name":"a"}) // line 1\n2. counting.act() // line 1\n' +
        "[dry run · 3 calls, 2 not made]\n",
    );
  });

  test("says so if there is nothing to list", async () => {
    folder.configure({ counting: counting() });
    const { stderr } = await cli(["exec", "--dry-run", "-e", "return 1"], { cwd: folder.path });
    expect(stderr).toContain("Would have called nothing that changes something.");
  });

  test("for an agent has the calls after the receipt, and nothing is counted or recorded as real", async () => {
    folder.configure({ counting: counting() });
    await inSession(folder.path, async (client) => {
      const { content } = (await client.callTool({
        name: "execute_code",
        arguments: { code, dry_run: true },
      })) as { content: { text: string }[] };
      expect(content.map(({ text }) => text.replace(/ · [\d.]+ m?s\]/, "]"))).toEqual([
        '{"count": 1}\n\n[dry run · 3 calls, 2 not made]',
        'Would have called (in order; results are made up):\n1. counting.act({"name":"a"}) // line 1\n2. counting.act() // line 1',
      ]);
    });
    const ledger = await ledgerOf(folder.path);
    expect(JSON.stringify(ledger)).not.toContain('"act"');
  });

  test("for an agent is cut, and says how many calls are left out", async () => {
    folder.configure({ counting: counting() });
    await inSession(folder.path, async (client) => {
      const many = 'for (let n = 0; n < 200; n++) await counting.act({ name: "x".repeat(1_000) });';
      const { content } = (await client.callTool({
        name: "execute_code",
        arguments: { code: many, dry_run: true },
      })) as { content: { text: string }[] };
      const list = content[1]?.text ?? "";
      expect(list.length).toBeLessThan(7_000);
      expect(list).toMatch(/\n… and 1\d\d more calls$/);
    });
  });

  test.each([
    [{ code: "return 1", dry_run: "yes" }, '"dry_run" must be true or false'],
    [{ code: "return 1", dry_run: true, background: true }, "A dry run cannot run in the background"],
  ])("for an agent refuses %p", async (given, message) => {
    folder.configure({ counting: counting() });
    await inSession(folder.path, async (client) => {
      const result = await client.callTool({ name: "execute_code", arguments: given });
      expect(result).toMatchObject({ isError: true, content: [{ text: message }] });
    });
  });

  test("is refused with --detach", async () => {
    folder.configure({ counting: counting() });
    const { exitCode, stderr } = await cli(["exec", "--dry-run", "--detach", "-e", code], { cwd: folder.path });
    expect([exitCode, stderr]).toEqual([2, "error: --detach cannot be used with --dry-run\n"]);
  });

  test("is recorded as a dry run", async () => {
    folder.configure({ counting: counting() });
    await cli(["exec", "--dry-run", "-e", code], { cwd: folder.path });
    const { executions } = JSON.parse((await cli(["trace", "--json"], { cwd: folder.path })).stdout);
    expect(executions).toMatchObject([{ ok: true, calls: 3, dryRun: true }]);
    const shown = await cli(["trace", "last"], { cwd: folder.path });
    expect(shown.stdout).toContain("dry run, ok");
    expect(shown.stdout).toContain("not made");
    const { timeline } = JSON.parse((await cli(["trace", "last", "--json"], { cwd: folder.path })).stdout);
    expect(timeline.map(({ tool, notMade }: { tool: string; notMade?: true }) => [tool, notMade])).toEqual([
      ["act", true],
      ["act", true],
      ["read", undefined],
    ]);
  });
});
