/** One execution has one state and one origin on every surface: `trace`, `executions`, their JSON, and the page of a real daemon. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import type { PageState } from "../../src/page/contract.ts";
import { Approvals } from "../../src/policy/approvals/approvals.ts";
import { claudikinsCommand } from "../support/command.ts";
import { eventually } from "../support/eventually.ts";
import { openHost } from "../support/host.ts";
import { Page } from "../support/page.ts";
import { runProgram, testEnvironment } from "../support/process.ts";
import { fixture } from "../support/servers.ts";
import { storedSummaries } from "../support/stored.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

// Many processes run at once on a small machine.
setDefaultTimeout(120_000);

let folder: TemporaryFolder;
let env: Record<string, string>;
beforeEach(() => {
  folder = temporaryFolder();
  const counting = fixture("counting", join(folder.path, "counts"));
  folder.write("claudikins.json", {
    mcpServers: { counting: { ...counting, confirm: { act: "always" } } },
    executions: { answerAfterMs: 20_000 },
  });
  env = testEnvironment({ HOME: folder.path, XDG_DATA_HOME: join(folder.path, "data"), CLAUDIKINS_DAEMON: "on" });
});
afterEach(async () => {
  await claudikins("daemon", "stop", "--now");
  folder[Symbol.dispose]();
});

const claudikins = (...argv: string[]) => runProgram([...claudikinsCommand, ...argv], { cwd: folder.path, env });
const text = async (...argv: string[]) => (await claudikins(...argv)).stdout;
const json = async (...argv: string[]) => JSON.parse(await text(...argv, "--json"));

const code = `const { count } = await counting.act({ name: "merge" }); return "done after " + count`;

/** The executions as the page of the daemon has them. */
async function onPage(): Promise<PageState["executions"]> {
  const page = await Page.open((await json("ui")).url);
  return ((await (await page.get("api/state")).json()) as PageState).executions;
}

/** Lists name the agent, if there is one. */
const byOf = (startedBy: string) => (startedBy === "serve" ? "test 1" : startedBy);

/** Expects the same waiting execution, and no other, on every surface. */
async function expectWaiting(id: string, approval: string, startedBy: string): Promise<void> {
  const state = { id, startedBy, approvals: [approval] };
  const words = `waits for approval ${approval}`;
  // Nothing is recorded as if it had ended.
  expect((await json("trace", "--all")).executions).toEqual([]);
  expect((await json("trace")).open).toMatchObject([state]);
  expect(await json("executions", "list")).toMatchObject({ executions: [state] });
  expect(await json("executions", "show", id)).toMatchObject(state);
  for (const command of ["executions", "trace"]) {
    const row = (await text(command)).split("\n").find((line) => line.startsWith(id.slice(0, 8)));
    expect([command, row]).toEqual([command, expect.stringContaining(` ${words}`)]);
    expect([command, row]).toEqual([command, expect.stringContaining(` ${byOf(startedBy)}`)]);
  }
  const [shown, ...others] = await onPage();
  expect(shown).toMatchObject({ id, kind: "waiting", stateText: "waits for you", isOver: false, startedBy });
  expect(others).toEqual([]);
  const { exitCode, stderr } = await claudikins("trace", id);
  expect(exitCode).toBe(2);
  expect(stderr).toContain(`The execution ${id} has not ended, and is recorded when it has`);
  expect(stderr).toContain(`Its state is "${words}". For more: claudikins executions show ${id}`);
  const page = await claudikins("executions", "show", id, "--html", "page.html");
  expect(page.stderr).toContain(`has no record yet`);
  expect(page.stderr).toContain(`claudikins executions wait ${id}`);
}

/** Expects the same end of the one execution on every surface. */
async function expectEnded(id: string, startedBy: string, ended: { ok: boolean; reason?: string }, word: string) {
  expect(await json("executions", "list")).toMatchObject({ executions: [{ id, state: "ended", startedBy, ...ended }] });
  expect(await json("trace")).toMatchObject({ open: [], executions: [{ id, startedBy, ...ended }] });
  expect(await json("trace", id)).toMatchObject({ id, startedBy, ...ended });
  expect(await text("trace", id)).toContain(`${id}  ${startedBy} · ${word} · `);
  for (const command of ["executions", "trace"]) {
    const row = (await text(command)).split("\n").find((line) => line.startsWith(id.slice(0, 8)));
    expect([command, row]).toEqual([command, expect.stringContaining(` ${word}`)]);
    expect([command, row]).toEqual([command, expect.stringContaining(` ${byOf(startedBy)}`)]);
  }
  const kind = ended.ok ? "good" : "bad";
  const stateText = ended.ok ? "done" : word;
  expect(await onPage()).toMatchObject([{ id, kind, stateText, isOver: true, startedBy, isRecorded: true }]);
}

/** An agent that starts the program, is told that it waits, and leaves. */
async function agentLeaves(): Promise<string> {
  await using host = await openHost(folder, { env });
  const { content } = (await host.call("execute_code", { code })) as { content: { text: string }[] };
  return /\{"resume": "(\w+)"\}/.exec(content[0]?.text ?? "")![1]!;
}

const approvalOf = async (id: string): Promise<string> => {
  const { approvals } = await json("approvals", "list");
  return approvals.find((each: { execution: string }) => each.execution === id).id;
};

/** A record is written a moment after the end. */
async function untilRecorded(id: string): Promise<void> {
  await eventually(async () => (await storedSummaries(env)).some((each) => each.id === id));
}

test("an agent's program that waits for approval after the agent has left waits on every surface, and is the agent's when it ends", async () => {
  const id = await agentLeaves();
  const approval = await approvalOf(id);
  await expectWaiting(id, approval, "serve");
  await using approvals = new Approvals({ env });
  await approvals.decide(approval, { state: "approved", scope: "once", by: "page" });
  expect((await claudikins("executions", "wait", id)).stdout).toContain("done after 1");
  await untilRecorded(id);
  await expectEnded(id, "serve", { ok: true }, "ok");
});

test("a program of exec that nobody can be asked about waits on every surface, and is cancelled everywhere once it is", async () => {
  const { exitCode, stderr } = await claudikins("exec", "-e", code);
  expect([exitCode, stderr]).toEqual([7, expect.stringContaining("waits until you approve or deny")]);
  const [, id = ""] = /The execution (\w+) waits/.exec(stderr) ?? [];
  await expectWaiting(id, await approvalOf(id), "exec");
  await claudikins("executions", "cancel", id);
  await untilRecorded(id);
  await expectEnded(id, "exec", { ok: false, reason: "cancelled" }, "cancelled");
  expect(await text("trace", id)).toEndWith("\nThe execution was cancelled\n");
});

test("a program that waits and that no process runs is recorded when it is cancelled", async () => {
  const alone = { cwd: folder.path, env: { ...env, CLAUDIKINS_DAEMON: "off" } };
  const run = (...argv: string[]) => runProgram([...claudikinsCommand, ...argv], alone);
  const { stderr } = await run("exec", "-e", code);
  const [, id = ""] = /The execution (\w+) waits/.exec(stderr) ?? [];
  expect((await run("executions", "cancel", id)).stderr).toContain(`Cancelled the execution ${id}`);
  const { stdout } = await run("trace", id, "--json");
  expect(JSON.parse(stdout)).toMatchObject({ id, startedBy: "exec", ok: false, reason: "cancelled" });
});
