/** Doors with the daemon: servers are shared, and programs continue behind the door at which they were started. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { cli } from "../cli/in-memory.ts";
import { claudikinsCommand } from "../support/command.ts";
import { eventually } from "../support/eventually.ts";
import { ownFolder } from "../support/own-folder.ts";
import { processesWith, runProgram, testEnvironment } from "../support/process.ts";
import { fixture } from "../support/servers.ts";

setDefaultTimeout(60_000);

const folder = ownFolder({ endsProcesses: true });

const env = () => testEnvironment({ HOME: folder.path, CLAUDIKINS_DAEMON: "on" });
const run = (...argv: string[]) => runProgram([...claudikinsCommand, ...argv], { cwd: folder.path, env: env() });
const outputOf = async (...argv: string[]) => {
  const { exitCode, stdout, stderr } = await run(...argv);
  return exitCode === 0 ? stdout.trim() : `${exitCode}: ${stderr.trim()}`;
};

function configure(): void {
  const tool = (name: string) => ({ name, inputSchema: { type: "object" } });
  folder.write("jira.json", [tool("get_issue"), tool("purge")]);
  folder.write("vault.json", [tool("open_safe")]);
  const server = (name: string) => fixture("from-file", join(folder.path, `${name}.json`));
  folder.write("claudikins.json", {
    mcpServers: { jira: server("jira"), vault: server("vault") },
    doors: { qa: { servers: ["jira"], tools: { deny: ["jira.purge"], confirm: { "jira.get_issue": "always" } } } },
  });
}

async function stopped<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } finally {
    await run("daemon", "stop", "--now");
  }
}

test("calls behind a door use the daemon's servers, and only those of the door", async () => {
  configure();
  await stopped(async () => {
    expect(JSON.parse(await outputOf("call", "jira.purge"))).toEqual({ name: "purge", arguments: {} });
    expect(await outputOf("call", "jira.purge", "--door", "qa")).toStartWith('2: error: jira has no tool "purge"');
    expect(await outputOf("call", "vault.open_safe", "--door", "qa")).toStartWith(
      '2: error: No server is called "vault"',
    );
    expect(await outputOf("call", "jira.purge", "--door", "no")).toContain('has no door "no"');
    const listed = await outputOf("exec", "--door", "qa", "-e", "return Object.keys(jira)");
    expect(JSON.parse(listed)).toEqual(["get_issue"]);
    expect(processesWith(join(folder.path, "jira.json"))).toHaveLength(1);
  });
});

test("a program in the background runs behind its door, waits for approval there, and is continued there", async () => {
  configure();
  await stopped(async () => {
    const code = "const issue = await jira.get_issue({}); return [issue.name, typeof vault, Object.keys(jira)]";
    const id = await outputOf("exec", "--detach", "--door", "qa", "-e", code);
    expect(id).toMatch(/^[\da-z]{28}$/);
    const waiting = async () =>
      (JSON.parse(await outputOf("approvals", "--json")) as { approvals: object[] }).approvals;
    await eventually(async () => (await waiting()).length === 1);
    // The next daemon finds it in the store.
    await run("daemon", "stop", "--now");
    expect(await outputOf("executions", "show", id)).toContain('is behind the door "qa"');
    expect(JSON.parse(await outputOf("executions", "list", "--json", "--door", "qa"))).toMatchObject({
      executions: [{ id, startedBy: "exec" }],
    });
    // A call starts the next daemon, which takes the program over.
    await outputOf("call", "vault.open_safe");
    const [approval] = await waiting();
    const terminal = { cwd: folder.path, env: env(), terminal: true, answers: ["y"] };
    expect((await cli(["approvals", "approve", (approval as { id: string }).id], terminal)).exitCode).toBe(0);
    const outcome = await outputOf("executions", "wait", id, "--door", "qa");
    expect(JSON.parse(outcome)).toEqual(["get_issue", "undefined", ["get_issue"]]);
  });
});

test("tools that are edited behind a door are called through the daemon, once under their own names", async () => {
  configure();
  const inputSchema = { type: "object", properties: { key: { type: "string" }, id: { type: "string" } } };
  folder.write("jira.json", [{ name: "get_issue", inputSchema }]);
  const edit = (name: string, key: string) => ({ "jira.get_issue": { name, arguments: { key: { value: key } } } });
  folder.write("claudikins.json", {
    mcpServers: { jira: fixture("from-file", join(folder.path, "jira.json")) },
    tools: edit("get_bug", "A"),
    doors: { qa: { tools: { ...edit("get_story", "B"), confirm: { "jira.get_issue": "always" } } } },
  });
  await stopped(async () => {
    const sent = (key: string, id: string) => ({ name: "get_issue", arguments: { id, key } });
    expect(JSON.parse(await outputOf("call", "jira.get_bug", "id=1"))).toEqual(sent("A", "1"));
    expect(JSON.parse(await outputOf("exec", "-e", "return jira.get_bug({ id: '2' })"))).toEqual(sent("A", "2"));
    for (const words of [["jira.get_story"], ["jira.get_issue"], ["jira.get_bug", "--door", "qa"]]) {
      expect(await outputOf("call", ...words)).toContain(`jira has no tool "${words[0]?.slice("jira.".length)}"`);
    }
    const id = await outputOf("exec", "--detach", "--door", "qa", "-e", "return jira.get_story({ id: '3' })");
    const waiting = async () => JSON.parse(await outputOf("approvals", "--json")).approvals as Record<string, string>[];
    await eventually(async () => (await waiting()).length === 1);
    const [approval] = await waiting();
    expect(approval).toMatchObject({
      server: "jira",
      tool: "get_issue",
      why: expect.stringMatching(/; agents know the tool as get_story$/),
    });
    expect(JSON.parse(approval!["excerpt"] ?? "{}")).toEqual({ id: "3", key: "B" });
    const terminal = { cwd: folder.path, env: env(), terminal: true, answers: ["y"] };
    expect((await cli(["approvals", "approve", approval!["id"]!], terminal)).exitCode).toBe(0);
    expect(JSON.parse(await outputOf("executions", "wait", id, "--door", "qa"))).toEqual(sent("B", "3"));
    expect(processesWith(join(folder.path, "jira.json"))).toHaveLength(1);
  });
});

test("doors share a server, unless one of them has processes of its own", async () => {
  folder.write("jira.json", [{ name: "get_issue", inputSchema: { type: "object" } }]);
  const jira = fixture("from-file", join(folder.path, "jira.json"));
  folder.write("claudikins.json", {
    mcpServers: { jira },
    doors: { qa: {}, ops: {}, apart: { private: ["jira"] } },
  });
  await stopped(async () => {
    const running = () => processesWith(join(folder.path, "jira.json")).length;
    const counts: number[] = [];
    for (const door of [[], ["--door", "qa"], ["--door", "ops"], ["--door", "apart"], ["--door", "apart"]]) {
      await outputOf("call", "jira.get_issue", ...door);
      counts.push(running());
    }
    // A program of another process uses them too.
    await outputOf("exec", "--door", "apart", "-e", "return jira.get_issue({})");
    counts.push(running());
    expect(counts).toEqual([1, 1, 1, 2, 2, 2]);
  });
});
