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
