/** The tasks of the bench: every one played both ways over real servers, and what they cost beside each other. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { executable } from "../support/claudikins.ts";
import { temporaryFolder } from "../support/temporary.ts";
import { Agent } from "./tasks/agent.ts";
import { playCode, playDirect, tasks } from "./tasks/play.ts";
import { ask } from "./tasks/task.ts";
import { makeWorld } from "./tasks/world.ts";

setDefaultTimeout(120_000);

test("both ways answer every task, and neither wins them all", async () => {
  using home = temporaryFolder();
  const places = { binary: executable(), folder: () => mkdtempSync(join(home.path, "folder-")) };
  const direct = await playDirect(places);
  const code = await playCode(places);
  expect(tasks.length).toBeGreaterThanOrEqual(12);
  expect([direct.costs.length, code.costs.length]).toEqual([tasks.length, tasks.length]);
  expect(code.definitionTokens).toBeLessThan(direct.definitionTokens);
  const cheaper = tasks.filter((_, index) => code.costs[index]!.workTokens < direct.costs[index]!.workTokens);
  const names = cheaper.map(({ name }) => name);
  expect(names).toContain("filter a log of 1 MB");
  expect(names).not.toContain("one tiny call");
});

test("calls of one turn are one round trip, and each round trip sends the whole context again", async () => {
  using home = temporaryFolder();
  await using agent = await Agent.start(makeWorld(home.path, executable()), home.path);
  agent.begin("Echo a, b and c.");
  const echo = (message: string) => ["everything", "echo", { message }] as [string, string, object] as never;
  await agent.turn(echo("a"), echo("b"));
  const before = agent.end();
  agent.begin("Echo a, b and c.");
  await agent.turn(echo("a"), echo("b"));
  expect((await ask(agent, "everything", "echo", { message: "c" })).text).toBe("Echo: c");
  const { roundTrips, workTokens, processedTokens } = agent.end();
  expect([before.roundTrips, roundTrips]).toEqual([2, 3]);
  expect(workTokens).toBeGreaterThan(before.workTokens);
  const definitions = agent.definitionTokens;
  expect(processedTokens).toBe(before.processedTokens + definitions + workTokens);
});
