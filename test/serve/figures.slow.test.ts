/** Receipts and the ledger count time in tools, results that stay out of the context, calls and executions as a person would. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { Approvals } from "../../src/policy/approvals/approvals.ts";
import { statisticsOf } from "../../src/programs/ledger/statistics.ts";
import { claudikinsCommand } from "../support/command.ts";
import { openHost, type TestHost } from "../support/host.ts";
import { ownFolder } from "../support/own-folder.ts";
import { runProgram, testEnvironment } from "../support/process.ts";
import { fixture } from "../support/servers.ts";
import { inSession, ledgerOf } from "../support/session.ts";
import { storedCounts } from "../support/stored.ts";

// Many processes run at once on a small machine.
setDefaultTimeout(120_000);

const folder = ownFolder();

const env = () => testEnvironment({ XDG_DATA_HOME: join(folder.path, "data") });

const figures = async () => statisticsOf(await storedCounts(env()), { now: new Date() });

async function execute(host: TestHost, args: object): Promise<string> {
  const { content } = (await host.call("execute_code", args)) as { content: { text: string }[] };
  return content.map(({ text }) => text).join("\n");
}

const askedMs = 1_500;

/** Lets an agent start a program that waits for approval, approves after a while, and lets an agent get the outcome. */
async function approvedLate(stays: boolean): Promise<string> {
  const counting = { ...fixture("counting", join(folder.path, "counts")), confirm: { act: "always" } };
  folder.write("claudikins.json", { mcpServers: { counting }, executions: { answerAfterMs: 20_000 } });
  const code = `const { count } = await counting.act({ name: "merge" }); return "done after " + count`;
  await using approvals = new Approvals({ env: env() });
  const first = await openHost(folder, { env: env() });
  const [, id = ""] = /\{"resume": "(\w+)"\}/.exec(await execute(first, { code })) ?? [];
  if (!stays) await first[Symbol.asyncDispose]();
  const [open] = await approvals.open({ execution: id });
  // The time that the person takes.
  await Bun.sleep(askedMs);
  await approvals.decide(open!.id, { state: "approved", scope: "once", by: "command" });
  await using second = stays ? first : await openHost(folder, { env: env() });
  expect(await execute(second, { resume: id })).toStartWith("done after 1");
  return id;
}

test("the time that a person takes to approve a call is not time in the tool, for stats and for trace", async () => {
  const id = await approvedLate(true);
  expect((await figures()).total).toMatchObject({ calls: 1, failures: 0, executions: 1 });
  expect((await figures()).total.durationMs).toBeLessThan(askedMs);
  const trace = (...argv: string[]) =>
    runProgram([...claudikinsCommand, "trace", id, ...argv], { cwd: folder.path, env: env() });
  const [call] = JSON.parse((await trace("--json")).stdout).timeline;
  expect(call.waitedMs).toBeGreaterThanOrEqual(askedMs);
  expect(call.endMs - call.startMs - call.waitedMs).toBeLessThan(askedMs);
  expect((await trace()).stdout).toMatch(/counting\.act .* m?s and \d[\d.,]* m?s of waiting for a person, \d+ chars\n/);
});

test("a call that waits while its program moves to another process counts once, and so does its execution", async () => {
  await approvedLate(false);
  expect((await figures()).total).toMatchObject({ calls: 1, failures: 0, executions: 1 });
  expect((await figures()).total.durationMs).toBeLessThan(askedMs);
});

const demo = { mcpServers: { demo: { command: claudikinsCommand[0], args: [...claudikinsCommand.slice(1), "demo"] } } };

/** The line without characters that were kept out of the context. */
const receipt = expect.stringMatching(/^\[[12] calls? · \d[\d.,]* m?s\]$/);

test.each([
  ["a long list", "return await demo.list_orders({})"],
  ["a long list beside others", "return { orders: await demo.list_orders({}), and: await demo.list_orders({}) }"],
  ["a displayed list", "display(await demo.list_orders({}))"],
  ["a logged list", "console.log(JSON.stringify(await demo.list_orders({})))"],
  ["an image", 'return await demo.render_chart({ title: "t", points: [{ label: "a", value: 1 }] })'],
  ["a displayed image", 'display(await demo.render_chart({ title: "t", points: [{ label: "a", value: 1 }] }))'],
])("%s that a program returns whole is not kept out of the context", async (_, code) => {
  folder.write("claudikins.json", demo);
  const result = await inSession(
    folder.path,
    async (client) =>
      (await client.callTool({ name: "execute_code", arguments: { code } })) as CallToolResult & {
        _meta: Record<string, { charsIn: number; charsKept: number }>;
      },
  );
  expect(result.isError).toBeUndefined();
  const texts = result.content.map((block) => (block.type === "text" ? block.text : ""));
  expect(texts.flatMap((text) => text.split("\n")).filter((line) => /^\[\d/.test(line))).toEqual([receipt]);
  expect(result._meta["claudikins/receipt"]).toMatchObject({ charsKept: 0 });
  const { results } = statisticsOf(new Map([["all", (await ledgerOf(folder.path))!]]), { now: new Date() }).total
    .tokens;
  expect(results.with).toBeGreaterThanOrEqual(results.without);
  const { exitCode, stderr } = await runProgram([...claudikinsCommand, "exec", "-e", code], {
    cwd: folder.path,
    env: env(),
  });
  expect([exitCode, stderr.trimEnd().split("\n").at(-1)]).toEqual([0, receipt]);
});
