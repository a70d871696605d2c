/** Servers that announce changes, make progress, log and ask without a pause, while programs run and searches are made. */
import { gatedCall, type Kind, type Run } from "./kind.ts";

/** Time in milliseconds of one flood. */
const floodMs = [200, 500, 1_000];

const lateMs = 15_000;

export const floodsKind: Kind = {
  name: "floods of servers",
  weight: 10,
  async run(run) {
    const { random, processes } = run;
    const signal = AbortSignal.timeout(lateMs);
    if (random.chance(0.2)) return await inDirectMode(run, signal);
    const agent = random.chance(0.3) ? await processes.newer() : await processes.older();
    const code = floodCode(run);
    const others = Array.from({ length: random.pick([0, 1, 2, 6]) }, () => {
      if (random.chance(0.5)) return agent.call("search_tools", { query: "does a word", limit: 50 });
      return agent.call("execute_code", { code: workCode(run) }, { random, signal });
    });
    return await Promise.all([agent.call("execute_code", { code }, { random, signal }), ...others]);
  },
};

function floodCode({ seed, index, random }: Run): string {
  const servers = random.pick([["flood"], ["flood", "torrent"]]);
  const floods = servers.map((name, place) => {
    return `${name}.flood(${JSON.stringify({ seed, index: index * 2 + place, ms: random.pick(floodMs) })})`;
  });
  return `return (await Promise.allSettled([${floods.join(", ")}])).length`;
}

function workCode(run: Run): string {
  const { seed, index, random } = run;
  return random.pick([
    `return (await tools.search("does a word")).length`,
    `return (await tools.list()).length`,
    `return await fuzz.answer({ seed: ${seed}, index: ${index} })`,
    `return await tools.describe("flood.tool_1")`,
    `return await ${gatedCall(run)}`,
  ]);
}

async function inDirectMode({ seed, index, random, processes }: Run, signal: AbortSignal): Promise<unknown> {
  const agent = await processes.direct();
  const { result } = (await agent.request("tools/list", {})) ?? {};
  const names = (Object(result).tools as { name: string }[] | undefined)?.map(({ name }) => name) ?? [];
  const flood = random.pick(names.filter((name) => name.endsWith("flood")).concat("flood"));
  const call = agent.call(flood, { seed, index, ms: random.pick(floodMs) }, { random, signal });
  const lists = Array.from({ length: 5 }, async (_, each) => {
    await Bun.sleep(each * 100);
    return await agent.request("tools/list", {});
  });
  return await Promise.all([call, ...lists]);
}
