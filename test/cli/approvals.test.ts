/** `claudikins approvals`: what waits, decisions of a person, and what is refused. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { Approvals } from "../../src/policy/approvals/approvals.ts";
import type { Approval } from "../../src/store/approval.ts";
import { type AskingChanges, asking } from "../store/approvals.ts";
import { storeExecution } from "../support/stored.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";
import { type CliOptions, cli } from "./in-memory.ts";

setDefaultTimeout(60_000);

let folder: TemporaryFolder;
let approvals: Approvals;
beforeEach(() => {
  folder = temporaryFolder();
  folder.write("claudikins.json", { mcpServers: {} });
  approvals = new Approvals({ env: { HOME: folder.path } });
});
afterEach(async () => {
  await approvals[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

const run = (argv: string[], options: CliOptions = {}) => cli(["approvals", ...argv], { cwd: folder.path, ...options });
const atTerminal = (argv: string[], ...answers: string[]) => run(argv, { terminal: true, answers });
const json = async (argv: string[]) => JSON.parse((await run([...argv, "--json"])).stdout);

/** A call that waits since five minutes ago, and expires in 23 hours and 55 minutes. */
function ask(changes: AskingChanges = {}): Promise<Approval> {
  const askedAt = Date.now() - 300_000;
  const config = join(folder.path, "claudikins.json");
  return approvals.ask(asking({ config, askedAt, expiresAt: askedAt + 86_400_000, ...changes }));
}
const stateOf = async ({ id }: Approval) => (await approvals.get(id))?.state;

describe("the list", () => {
  test("has the calls of this config, with the others as a note", async () => {
    const mine = await ask();
    const other = await ask({ config: "/other/claudikins.json", execution: "e2", line: null });
    const { stdout, stderr, exitCode } = await run([]);
    expect(stdout).toBe(
      [
        "id        asked      expires in  call          arguments                            execution",
        `${mine.id}  5 min ago  24 h        github.merge  {"id":1,"text":"a \\"quoted\\" text"}  e1, line 3`,
        "",
      ].join("\n"),
    );
    expect(stderr).toContain("note: 1 more call with other configs: claudikins approvals --all");
    expect(exitCode).toBe(0);
    expect((await run(["--all"])).stdout).toContain(other.id);
    expect(await json([])).toEqual(await json(["list"]));
    const { approvals: listed } = await json(["--all"]);
    expect(listed).toMatchObject([
      { id: mine.id, state: "open", args: { id: 1 }, line: 3, code: "await github.merge({ id: 1 })" },
      { id: other.id, config: "/other/claudikins.json" },
    ]);
    expect(listed[0]).not.toHaveProperty("bound");
  });

  test("is empty before anything has waited, and no file is made", async () => {
    expect(await run([])).toEqual({
      exitCode: 0,
      stdout: "",
      stderr: "Nothing waits for your approval with this config.\n",
    });
    expect(await json([])).toEqual({ approvals: [] });
  });

  test("has decisions with --decided", async () => {
    const row = await ask();
    await approvals.decide(row.id, { state: "approved", scope: "session", by: "page" });
    expect((await run([])).stdout).toBe("");
    expect((await run(["list", "--decided"])).stdout).toContain("approved for the session");
    expect(await json(["list", "--decided"])).toMatchObject({
      approvals: [{ id: row.id, state: "approved", scope: "session", decidedBy: "page" }],
    });
  });
});

describe("show", () => {
  test("has all arguments, in lines that cannot look like the others", async () => {
    const text = `\nTo decide: claudikins approvals approve everything\u001b[2J ${"long ".repeat(400)}end`;
    const row = await ask({ args: { text, list: [1, 2] } });
    const { stdout, stderr } = await run(["show", row.id.slice(0, 6)]);
    const lines = stdout.split("\n");
    const begin = lines.indexOf("Its arguments:");
    const end = lines.findIndex((line) => line.startsWith("Config: "));
    expect(lines.slice(begin + 1, end).every((line) => line === "" || line.startsWith("    "))).toBe(true);
    expect(lines.every((line) => line.length <= 100)).toBe(true);
    expect(stdout).not.toContain("\u001b");
    expect(stdout.replace(/\s+/g, "")).toContain(`${"long".repeat(400)}end`);
    expect(lines[0]).toBe(`${row.id}: asked 5 min ago, expires in 24 h`);
    expect(lines).toContain("Execution e1, call 1, line 3");
    expect(lines).toContain("    await github.merge({ id: 1 })");
    expect(stderr).toBe(
      `To see what the whole program would do: claudikins executions dry-run e1\nTo decide: claudikins approvals approve ${row.id}, or deny ${row.id}\n`,
    );
  });

  test("says who asks, what was read before, and what differs from the last approved call", async () => {
    const earlier = await ask({ args: { order: 7 } });
    await approvals.decide(earlier.id, { state: "approved", scope: "program", by: "page" });
    const row = await ask({ args: { order: 8, text: `a\nTo decide: nothing${"x".repeat(200)}` }, call: 2 });
    const { stdout } = await run(["show", row.id]);
    expect(stdout).toContain("Read before: nothing with a label\n");
    expect(stdout).toMatch(
      new RegExp(
        `Since the last approved call of this tool \\(${earlier.id}, .+\\):\n    order: 7 → 8\n    text: new: "a`,
      ),
    );
    expect(stdout.split("\n").every((line) => line.length <= 100)).toBe(true);
    expect(await json(["show", row.id])).toMatchObject({
      reads: [],
      lastApproved: {
        id: earlier.id,
        isWhole: true,
        changes: [{ at: "order", before: "7", now: "8" }, { kind: "new" }],
      },
    });
  });

  test("finds an id by its beginning or end, and names several that fit", async () => {
    const rows = [await ask(), await ask({ call: 2 })];
    const [first, second] = rows.map(({ id }) => id);
    expect((await json(["show", first!.slice(-5)])).id).toBe(first);
    expect((await json(["show", second!.slice(0, 5)])).id).toBe(second);
    const { stderr, exitCode } = await run(["show", "nothing-like-it"]);
    expect([stderr, exitCode]).toEqual([expect.stringContaining('There is no approval "nothing-like-it"'), 2]);
  });
});

describe("long arguments", () => {
  const args = { path: "/etc/hosts", text: "line of text\n".repeat(60_000), end: "THE END" };
  const bytes = Buffer.byteLength(JSON.stringify(args));

  test("are whole in show as long as the call waits, and in lists only as their beginning", async () => {
    const row = await ask({ args });
    expect((await json(["show", row.id])).args).toEqual(args);
    expect((await run(["show", row.id])).stdout).toContain('"end": "THE END"');
    const [listed] = (await json(["list"])).approvals;
    expect(listed).not.toHaveProperty("args");
    expect(listed).toMatchObject({ argsBytes: bytes, excerpt: JSON.stringify(args, null, 2).slice(0, 2_000) });
    expect((await run([])).stdout).toContain('{"path": "/etc/hosts","text": "line of text');
  });

  test("are shown to the person who approves: both ends, and how much is between", async () => {
    const row = await ask({ args });
    const { stderr } = await atTerminal(["approve", row.id], "y");
    for (const part of ['"path": "/etc/hosts"', '"end": "THE END"', "about 840,000 characters are not shown"]) {
      expect(stderr).toContain(part);
    }
    expect(await stateOf(row)).toBe("approved");
  });

  test("are kept in part after the decision, and show says so", async () => {
    const row = await ask({ args });
    expect((await json(["deny", row.id])).denied[0]).not.toHaveProperty("args");
    const shown = await json(["show", row.id]);
    expect(shown).not.toHaveProperty("args");
    expect(shown).toMatchObject({ argsBytes: bytes, state: "denied" });
    const { stdout } = await run(["show", row.id]);
    expect(stdout).toContain('"path": "/etc/hosts"');
    expect(stdout).not.toContain("THE END");
    expect(stdout).toContain(
      `Only the beginning of its arguments is kept: they had ${bytes.toLocaleString("en")} bytes\n`,
    );
    expect((await json(["list", "--decided"])).approvals[0]).toMatchObject({ id: row.id, argsBytes: bytes });
  });

  test("cannot be approved after another decision", async () => {
    const row = await ask({ args });
    await approvals.withdraw(row.id);
    const { stderr, exitCode } = await atTerminal(["approve", row.id], "y");
    expect(stderr).toContain("no longer waits");
    expect(exitCode).toBe(2);
    expect(await stateOf(row)).toBe("withdrawn");
  });
});

test("the list of hundreds of calls with large arguments does not read them", async () => {
  const text = "x".repeat(1_000_000);
  for (let call = 0; call < 40; call++) await ask({ call, args: { call, text } });
  for (const argv of [["list"], ["list", "--json"], ["list", "--all", "--json"]]) {
    const { stdout, exitCode } = await run(argv);
    expect(exitCode).toBe(0);
    expect(stdout.length).toBeLessThan(200_000);
  }
});

describe("approve", () => {
  test("asks the person with the whole question, and approves after a yes", async () => {
    const row = await ask();
    const { stdout, stderr, exitCode } = await atTerminal(["approve", row.id], "y");
    expect(stderr).toContain("Allow the call to github.merge?");
    expect(stderr).toContain('"text": "a \\"quoted\\" text"');
    expect(stderr).toContain("Approve this call?");
    expect([stdout, exitCode]).toEqual([`Approved github.merge (${row.id})\n`, 0]);
    expect(await approvals.get(row.id)).toMatchObject({ state: "approved", scope: "once", decidedBy: "command" });
  });

  test("approves for the session, several calls, and all calls of a server or a tool", async () => {
    const rows = [
      await ask({ execution: "e1" }),
      await ask({ execution: "e2" }),
      await ask({ execution: "e3", tool: "close" }),
      await ask({ execution: "e4", server: "files" }),
    ];
    const states = () => Promise.all(rows.map(stateOf));
    await atTerminal(["approve", "--all-of", "github.merge", "--for", "session"], "y");
    expect(await states()).toEqual(["approved", "approved", "open", "open"]);
    expect((await approvals.get(rows[0]!.id))?.scope).toBe("session");
    await atTerminal(["approve", "--all-of", "github"], "y");
    expect(await states()).toEqual(["approved", "approved", "approved", "open"]);
    expect((await atTerminal(["approve", "--all-of", "github"], "y")).exitCode).toBe(2);
  });

  test("approves nothing after a no", async () => {
    const row = await ask();
    expect((await atTerminal(["approve", row.id], "n")).exitCode).toBe(130);
    expect(await stateOf(row)).toBe("open");
  });

  test("is refused without a terminal, whatever is written to its input", async () => {
    const row = await ask();
    const { stderr, exitCode } = await run(["approve", row.id], { stdin: "y\n" });
    expect(stderr).toContain("Only a person can approve a call, and this command has no terminal");
    expect(exitCode).toBe(2);
    expect((await run(["approve", row.id, "--yes"])).stderr).toContain("Unknown flag --yes");
    expect(await stateOf(row)).toBe("open");
  });

  test("says why a call no longer waits, and what is next", async () => {
    const [denied, expired, withdrawn] = [
      await ask(),
      await ask({ execution: "e2", expiresAt: Date.now() - 1 }),
      await ask({ execution: "e3" }),
    ];
    await approvals.decide(denied.id, { state: "denied", by: "page" });
    await approvals.withdraw(withdrawn.id);
    const said = async ({ id }: Approval) => (await atTerminal(["approve", id], "y")).stderr;
    expect(await said(denied)).toContain(`The call ${denied.id} no longer waits: it was denied on the page just now`);
    expect(await said(expired)).toMatch(/it expired just now\n+.*: Run the program again to be asked again\./);
    expect(await said(withdrawn)).toContain("it was withdrawn just now");
  });

  test("needs the ids if a name can mean tools of two servers, or a server", async () => {
    const calls = [await ask({ server: "a", tool: "b.c" }), await ask({ server: "a.b", tool: "c", execution: "e2" })];
    const { exitCode, stderr } = await atTerminal(["approve", "--all-of", "a.b.c"], "y");
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining("a.b.c can mean 2 different tools or servers")]);
    const tool = await ask({ server: "a", tool: "b", execution: "e3" });
    expect((await atTerminal(["approve", "--all-of", "a.b"], "y")).exitCode).toBe(2);
    expect(await Promise.all([...calls, tool].map(stateOf))).toEqual(["open", "open", "open"]);
    expect((await atTerminal(["approve", calls[0]!.id], "y")).exitCode).toBe(0);
    expect(await Promise.all(calls.map(stateOf))).toEqual(["approved", "open"]);
  });

  test("needs an id or --all-of, and not both", async () => {
    expect((await run(["approve"])).exitCode).toBe(2);
    expect((await run(["approve", "a", "--all-of", "github"])).stderr).toContain("Give ids or --all-of, not both");
    expect((await run(["approve", "a", "--all"])).stderr).toContain("--all belongs to --all-of");
  });

  test("says how to continue an execution that no process runs", async () => {
    const row = await ask();
    expect((await atTerminal(["approve", row.id], "y")).stderr).not.toContain("no process runs");
    await storeExecution(folder.path, "e9", { isSaved: true });
    const { id } = await ask({ execution: "e9" });
    // Its process ends.
    await approvals[Symbol.asyncDispose]();
    const { stderr } = await atTerminal(["approve", id], "y");
    expect(stderr).toContain("note: no process runs execution e9. To continue it: claudikins executions wait e9");
  });
});

describe("deny", () => {
  test("denies the call and the tool's other calls in the execution, also without a terminal", async () => {
    const rows = [await ask(), await ask({ call: 2 }), await ask({ call: 3, tool: "close" })];
    const { stdout } = await run(["deny", rows[0]!.id]);
    expect(stdout.split("\n").filter(Boolean).sort()).toEqual(
      rows
        .slice(0, 2)
        .map(({ id }) => `Denied github.merge (${id})`)
        .sort(),
    );
    expect(await Promise.all(rows.map(stateOf))).toEqual(["denied", "denied", "open"]);
    expect(await json(["deny", rows[2]!.id])).toMatchObject({ denied: [{ id: rows[2]!.id, state: "denied" }] });
  });
});

test("a shell completes the subcommands, and the ids of calls that wait", async () => {
  const row = await ask();
  const offered = async (...words: string[]) =>
    (await cli(["complete", "fish", "--", ...words], { cwd: folder.path })).stdout;
  expect((await offered("approvals", "")).split("\n").map((line) => line.split("\t")[0])).toEqual([
    "list",
    "show",
    "approve",
    "deny",
    "",
  ]);
  expect(await offered("approvals", "show", "")).toBe(`${row.id}\tgithub.merge, 5 min ago\n`);
});

test("a decision of a command is in the audit log with its process", async () => {
  const row = await ask();
  await run(["deny", row.id]);
  const { stdout } = await cli(["audit", "--json"], { cwd: folder.path });
  expect(JSON.parse(stdout)).toMatchObject({
    entries: [
      {
        decision: "denied",
        approval: row.id,
        server: "github",
        tool: "merge",
        by: { place: "command", pid: process.pid, terminal: expect.any(Boolean) },
      },
    ],
  });
});

describe("a denial", () => {
  test("has a reason of one line, which the list shows", async () => {
    const row = await ask();
    const { exitCode } = await run(["deny", row.id, "--reason", " only after\nQA "]);
    expect(exitCode).toBe(0);
    expect(await approvals.get(row.id)).toMatchObject({ state: "denied", reason: "only after QA" });
    expect(await json(["list", "--decided"])).toMatchObject({ approvals: [{ reason: "only after QA" }] });
    expect((await run(["show", row.id])).stdout).toContain('denied just now, with the reason "only after QA"');
  });

  test.each([" ", "x".repeat(501)])("with the reason %p is refused", async (reason) => {
    const row = await ask();
    expect((await run(["deny", row.id, "--reason", reason])).exitCode).toBe(2);
    expect(await stateOf(row)).toBe("open");
  });
});

describe("--for always", () => {
  const config = { mcpServers: { github: { command: "x", confirm: "always" } } };
  const confirmed = async () => (await Bun.file(join(folder.path, "claudikins.json")).json()).mcpServers.github.confirm;
  test("shows the rule, and writes it after the call was approved", async () => {
    folder.write("claudikins.json", config);
    const row = await ask();
    const argv = ["approve", row.id, "--for", "always"];
    const no = await run(argv, { terminal: true, answers: ["n"] });
    expect(no.stderr).toContain('mcpServers.github.confirm: "always" → {"*":"always","merge":"never"}');
    expect([await stateOf(row), await confirmed()]).toEqual(["open", "always"]);
    const { exitCode } = await run(argv, { terminal: true, answers: ["y"] });
    expect(exitCode).toBe(0);
    expect(await approvals.get(row.id)).toMatchObject({ state: "approved", scope: "once" });
    expect(await confirmed()).toEqual({ "*": "always", merge: "never" });
  });

  test("needs a terminal, a config that is trusted, and a confirmation that it can change", async () => {
    folder.write("claudikins.json", config);
    const row = await ask();
    const argv = ["approve", row.id, "--for", "always"];
    expect((await run(argv)).stderr).toContain("Only a person can approve a call");
    expect((await run(argv, { terminal: true, answers: ["y"], env: { CI: "" } })).stderr).toContain("do not trust yet");
    folder.write("claudikins.json", { mcpServers: { github: { command: "x" } } });
    const none = await run(argv, { terminal: true, answers: ["y"] });
    expect(none.stderr).toContain('No "confirm" of the config asks about github.merge');
    expect(await stateOf(row)).toBe("open");
  });
});
