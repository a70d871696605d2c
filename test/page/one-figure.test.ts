/** The page and `claudikins stats` say the same of one ledger. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import type { PageFigures } from "../../src/page/activity-contract.ts";
import type { CallFigures } from "../../src/programs/call-log/figures.ts";
import type { Statistics } from "../../src/programs/ledger/statistics.ts";
import { cli } from "../cli/in-memory.ts";
import { storedCall } from "../store/contract/call-log.ts";
import { Page } from "../support/page.ts";
import { fixture } from "../support/servers.ts";
import { inStore } from "../support/stored.ts";
import { Scene } from "./scene.ts";

setDefaultTimeout(60_000);

let scene: Scene;
beforeEach(async () => {
  const description = "Lists the orders of the shop, newest first, with their customers, their state and their total.";
  scene = await Scene.open({
    shop: { entry: { command: "shop-mcp" }, tools: [{ name: "list_orders", description }] },
  });
});
afterEach(() => scene[Symbol.asyncDispose]());

async function onPage(days: number | "all" = 30): Promise<PageFigures> {
  const page = await Page.open(scene.url);
  return (await page.get(`api/figures?days=${days}`)).json() as Promise<PageFigures>;
}

async function stats(...argv: string[]): Promise<Statistics> {
  const { folder, env } = scene;
  return JSON.parse((await cli(["stats", ...argv, "--json"], { cwd: folder.path, env })).stdout);
}

test("the page and stats have the same figures of the same days, with tools that are known and without days being named", async () => {
  const day = 86_400_000;
  const use = {
    calls: 7,
    failures: 2,
    denied: 3,
    durationMs: 500,
    resultChars: 90_000,
    takenChars: 80_000,
    argumentChars: 400,
  };
  for (const daysAgo of [0, 3, 20, 29]) {
    await scene.count(
      (counts) => {
        counts.addSums({ sessions: 2, definitionChars: 71_234, surfaceChars: 2_345 });
        counts.addSums({ executions: 3, codeChars: 900, returnedChars: 1_700, shellExecutions: 2 });
        counts.addSums({ searches: 1, queryChars: 20, foundChars: 1_180 });
        counts.addUse("shop", "list_orders", use);
      },
      new Date(Date.now() - daysAgo * day),
    );
  }
  const page = await onPage();
  expect(page.total.calls).toBe(28);
  for (const flags of [[], ["--days", "30"]]) {
    const { total, periods, tools } = await stats(...flags);
    const { tokens, resultChars: _, ...counts } = total;
    expect(page.total).toEqual({ ...counts, keptOut: tokens.keptOut, without: tokens.all.without });
    expect(page.periods).toEqual(
      periods.map(({ period, calls, failures, denied, durationMs, tokens: { keptOut } }) => {
        return { period, calls, failures, denied, durationMs, keptOut };
      }),
    );
    expect(page.tools).toEqual(tools.map(({ resultChars: _, ...tool }) => ({ ...tool, p50Ms: null, p95Ms: null })));
  }
  const { total } = await stats("--days", "30", "--server", "shop");
  expect(page.servers).toMatchObject([{ server: "shop", calls: total.calls, failures: total.failures, denied: 12 }]);
  expect(await onPage(7)).toMatchObject({ total: { calls: 14 } });
});

test("the page and calls figures sum up the same call log, by agent, door, person and program, with percentiles", async () => {
  const now = Date.now();
  const calls = Array.from({ length: 40 }, (_, place) => ({
    ...storedCall(`c${String(place).padStart(3, "0")}`, now - place * 1_000),
    server: "shop",
    tool: "list_orders",
    agent: place % 4 === 0 ? null : "codex",
    door: place % 2 === 0 ? "qa" : null,
    person: place % 5 === 0 ? "0123456789abcdef" : null,
    personName: place % 5 === 0 ? "Ann" : null,
    execution: place % 3 === 0 ? null : `e${place % 7}`,
    outcome: place % 8 === 0 ? ("failed" as const) : place % 8 === 1 ? ("denied" as const) : ("ok" as const),
    durationMs: place * 3,
  }));
  await inStore(scene.env, (store) => store.callLog.add(calls));
  const page = await onPage();
  const { folder, env } = scene;
  for (const [by, shown] of [
    ["agent", page.agents],
    ["door", page.doors],
    ["person", page.people],
  ] as const) {
    const printed = await cli(["calls", "figures", "--by", by, "--json"], { cwd: folder.path, env });
    const { figures } = JSON.parse(printed.stdout) as { figures: CallFigures[] };
    expect(shown).toEqual(figures.map(({ resultBytes: _, lastAt: __, ...each }) => each));
  }
  expect(page.agents[0]).toMatchObject({ name: "codex", calls: 30, failures: 0, denied: 5 });
  expect(page.people[1]).toMatchObject({ name: "Ann", calls: 8, p50Ms: 45, p95Ms: 105 });
  expect(page.programs).toEqual([]);
});

test("a time without calls names the last one, and an unknown number of days is refused", async () => {
  const at = new Date(Date.now() - 40 * 86_400_000);
  const use = { calls: 1, failures: 0, durationMs: 5, resultChars: 9, takenChars: 8, argumentChars: 4 };
  await scene.count((counts) => counts.addUse("shop", "list_orders", use), at);
  expect((await onPage(7)).lastBefore).toStartWith(`${at.getFullYear()}-`);
  expect((await onPage("all")).lastBefore).toBeUndefined();
  expect((await (await Page.open(scene.url)).get("api/figures?days=0")).status).toBe(400);
});

test("a call that the policy denies is denied and not failed: in stats, in calls figures and on the page", async () => {
  await scene[Symbol.asyncDispose]();
  const servers = { echo: { ...fixture("echo"), deny: ["echo"] }, odd: fixture("odd") };
  scene = await Scene.open({}, JSON.stringify({ mcpServers: servers }));
  const { folder, env } = scene;
  const run = (...argv: string[]) => cli(argv, { cwd: folder.path, env });
  for (const code of [
    "return await odd.structured()",
    "return await odd.broken_tool()",
    "return await echo.echo({})",
  ]) {
    await run("exec", "--check", "off", "-e", code);
  }
  const { total } = await stats();
  const { figures } = JSON.parse((await run("calls", "figures", "--by", "agent", "--json")).stdout) as {
    figures: CallFigures[];
  };
  const page = await onPage();
  expect(total).toMatchObject({ denied: 1 });
  for (const each of [page.total, figures[0]!, page.agents[0]!]) {
    expect([each.calls, each.failures, each.denied]).toEqual([total.calls, total.failures, total.denied]);
  }
  expect((await run("stats")).stdout).toContain("1 denied");
});
