/** The page and `claudikins stats` say the same of one ledger. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import type { PageState } from "../../src/page/contract.ts";
import type { Statistics } from "../../src/programs/ledger/statistics.ts";
import { cli } from "../cli/in-memory.ts";
import { Page } from "../support/page.ts";
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

async function onPage(): Promise<PageState["savings"]> {
  const page = await Page.open(scene.url);
  return ((await (await page.get("api/state")).json()) as PageState).savings;
}

async function stats(...argv: string[]): Promise<Statistics> {
  const { folder, env } = scene;
  return JSON.parse((await cli(["stats", ...argv, "--json"], { cwd: folder.path, env })).stdout);
}

test("the page and stats have the same figures of the same days, with tools that are known and without days being named", async () => {
  const day = 86_400_000;
  const use = { calls: 7, failures: 2, durationMs: 500, resultChars: 90_000, takenChars: 80_000, argumentChars: 400 };
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
  expect(page.calls).toBe(28);
  for (const flags of [[], ["--days", "30"]]) {
    const { total, periods, tools } = await stats(...flags);
    const { sessions, executions, shellExecutions, searches, calls, failures, tokens } = total;
    expect(page).toEqual({
      days: periods.map(({ period, tokens: { keptOut }, calls }) => ({ day: period, keptOut, calls })),
      keptOut: tokens.keptOut,
      without: tokens.all.without,
      with: tokens.all.with,
      sessions,
      executions,
      shellExecutions,
      searches,
      calls,
      failures,
      tools: tools.map(({ server, tool, calls, failures, durationMs }) => ({
        server,
        tool,
        calls,
        failures,
        durationMs,
      })),
      problems: [],
    });
  }
});
