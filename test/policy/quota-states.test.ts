/** The quotas of a config, its doors and its servers, and how much of each is used. */
import { expect, test } from "bun:test";
import { loadConfig } from "../../src/config/load.ts";
import { quotaStates, UsageQuotas } from "../../src/policy/quotas.ts";
import { openStore } from "../../src/store/open.ts";
import { temporaryFolder } from "../support/temporary.ts";

test("each quota of the config, of doors and of servers is listed with what is used of it now, and nothing is counted for it", async () => {
  using folder = temporaryFolder();
  const env = { HOME: folder.path };
  const flag = folder.write("claudikins.json", {
    mcpServers: { jira: { command: "x", quotas: { callsPerMinute: 100 } }, wiki: { command: "x" } },
    doors: { qa: { quotas: { callsPerMinute: 5, executionsAtOnce: 2 } }, all: {} },
    quotas: { mbPerDay: 2, callsAtOnce: 3 },
  });
  const load = (door?: string) => loadConfig({ flag, cwd: folder.path, env, door });
  const config = await load();
  const behind = await load("qa");
  await using store = openStore(env);
  const quotas = new UsageQuotas({ owners: () => behind.quotas, servers: behind.servers, config: flag, store });
  const call = { execution: undefined, owner: undefined, signal: undefined };
  const sizes = { argumentBytes: () => 524_288, resultBytes: () => 524_288 };
  const before = Date.now();
  for (const server of ["jira", "wiki"]) await quotas.call({ server, ...call, ...sizes }, async () => "done");
  const [minute, day] = [60_000, 86_400_000];
  const states = await quotaStates(config, store.quotas, before);
  const endOf = (spanMs: number) => before - (before % spanMs) + spanMs;
  // The calls may have been made in two minutes.
  const isOneMinute = Math.floor(before / minute) === Math.floor(Date.now() / minute);
  const used = (count: number) => (isOneMinute ? count : expect.any(Number));
  const expected = [
    { owner: "the config", kind: "mbPerDay", limit: 2, used: used(2), to: endOf(day) },
    { owner: "the config", kind: "callsAtOnce", limit: 3 },
    { owner: 'the door "qa"', kind: "callsPerMinute", limit: 5, used: used(2), to: endOf(minute) },
    { owner: 'the door "qa"', kind: "executionsAtOnce", limit: 2 },
    { owner: 'the server "jira"', kind: "callsPerMinute", limit: 100, used: used(1), to: endOf(minute) },
  ];
  expect(states).toEqual(expected as typeof states);
  expect(await quotaStates(config, store.quotas, before)).toEqual(states);
  // A later minute begins at zero.
  const later = await quotaStates(config, store.quotas, before + 2 * minute);
  expect(later.find(({ owner }) => owner === 'the door "qa"')).toMatchObject({ used: 0 });
});
