/** Programs that are hostile or use a server with random lists, schemas and results, and searches. */

import { Random } from "../../random.ts";
import { hostileProgram } from "../../sandbox-fuzz/hostile-sources.ts";
import { type Programs, programsOf } from "../../sandbox-fuzz/programs.ts";
import { hostileSchema } from "../values.ts";
import type { Kind, Run } from "./kind.ts";

let programs: Promise<Programs> | undefined;

export const programsKind: Kind = {
  name: "programs, lists, schemas, results and searches",
  weight: 900,
  async run(run) {
    const { random, processes } = run;
    const code = await codeOf(run);
    const agent = await processes.older();
    if (random.chance(0.1)) {
      const detail = random.pick(["full", "signatures"]);
      return await agent.call("search_tools", { query: "name of an id", limit: 50, detail });
    }
    return await agent.call("execute_code", { code });
  },
};

async function codeOf({ seed, index, random }: Run): Promise<string> {
  const call = (args: object) => `fuzz.answer(${JSON.stringify({ seed, index, ...args })})`;
  switch (random.below(8)) {
    case 0:
      return hostileProgram(random);
    case 1:
      programs ??= programsOf(seed);
      return (await programs)(index);
    case 2:
      return `await ${call({ relist: true })}; return tools.search("name id").then((found) => found.length)`;
    case 3: {
      const { args } = hostileSchema(new Random(seed, index));
      return `await ${call({ relist: true, schema: true })}; await tools.list("fuzz"); return await servers.fuzz["hostile"](${args})`;
    }
    case 4:
      return `return (await Promise.allSettled([${call({})}, ${call({})}, ${call({ relist: true })}, fuzz.answer.raw({ seed: ${seed}, index: ${index} })])).length`;
    case 5:
      return `const value = await ${call({})}; console.log(value); return value`;
    default:
      return `return await ${call({})}`;
  }
}
