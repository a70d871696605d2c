/** The tasks of the benchmark, played both ways with real servers, and their costs. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { Agent, writtenCall } from "../../scripts/bench/tasks/agent.ts";
import { type Played, playCode, playDirect, tasks } from "../../scripts/bench/tasks/play.ts";
import { ask } from "../../scripts/bench/tasks/task.ts";
import { withToolSearch } from "../../scripts/bench/tasks/tool-search.ts";
import { makeWorld } from "../../scripts/bench/tasks/world.ts";
import { executable } from "../support/claudikins.ts";
import { temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(120_000);

test("both ways solve every task, neither needs fewer tokens for all of them, and no program only prints a result once servers were listed", async () => {
  using home = temporaryFolder();
  const places = { binary: executable(), folder: () => mkdtempSync(join(home.path, "folder-")) };
  const direct = await playDirect(places);
  const { first: code, again } = await playCode(places);
  expect(tasks.length).toBeGreaterThanOrEqual(12);
  expect([direct.costs.length, code.costs.length]).toEqual([tasks.length, tasks.length]);
  expect(code.definitionTokens).toBeLessThan(direct.definitionTokens);
  const cheaper = tasks.filter((_, index) => code.costs[index]!.workTokens < direct.costs[index]!.workTokens);
  const names = cheaper.map(({ name }) => name);
  expect(names).toContain("filter a log of 1 MB");
  expect(names).not.toContain("one tiny call");
  const trips = ({ costs }: Pick<Played, "costs">) => costs.reduce((sum, { roundTrips }) => sum + roundTrips, 0);
  expect(trips(code)).toBeLessThanOrEqual(trips(direct));
  expect(trips(again)).toBeLessThanOrEqual(32);
  // The servers were used in the first run, so no program only prints a result, and nothing is searched for.
  expect(again.steps.filter(({ answers, programs }) => answers.length > 0 || programs.length > 1)).toEqual([]);
  for (const call of ["list_tickets", "list_products", "read_text_file", "search_nodes"]) {
    expect(again.shown.instructions).toMatch(new RegExp(String.raw`\b${call}\([^;]*\): \{ `));
  }
});

test("concurrent calls of one turn are one round trip, and each round trip sends the whole context again", async () => {
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

test("a tool search of the host loads names first, then the definitions of the tools it needs", async () => {
  using home = temporaryFolder();
  await using agent = await Agent.start(makeWorld(home.path, executable()), home.path);
  agent.begin("Echo a, b and c.");
  await ask(agent, "everything", "echo", { message: "a" });
  await ask(agent, "everything", "echo", { message: "b" });
  const cost = agent.end();
  const { shown, definitionTokens } = agent;
  expect([...cost.used]).toEqual(["mcp__everything__echo"]);
  const { definitionTokens: atFirst, costs } = withToolSearch({ shown, definitionTokens, costs: [cost] });
  expect(atFirst).toBeLessThan(definitionTokens / 5);
  const found =
    countTokens(writtenCall("tool_search", { query: "mcp__everything__echo" })) +
    countTokens(shown.definitions.get("mcp__everything__echo")!);
  // The search, two calls and the answer: all of them contain the names, and the last three the found definitions.
  const processedTokens = cost.processedTokens - 3 * definitionTokens + 4 * atFirst + 3 * found + cost.requestTokens;
  expect(costs).toEqual([{ workTokens: cost.workTokens + found, roundTrips: 4, processedTokens }]);
});
