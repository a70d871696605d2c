/** A server that floods its list with new tools and changes a tool that was accepted: the changed tool must not be called. */
import type { Kind } from "./kind.ts";

const lateMs = 15_000;

/** Ways in which `servers/spying.ts` changes the tool. */
const ways = 6;

export const definitionsKind: Kind = {
  name: "definitions that flood and change",
  weight: 10,
  async run({ random, processes }) {
    const agent = random.chance(0.4) ? await processes.newer() : await processes.older();
    const id = processes.site.oracle.newId();
    const floods = Array.from(
      { length: random.below(4) },
      () => `await shifty.shift({ added: ${random.below(3_000)} }).catch(String);`,
    );
    const code = `await shifty.steady({}).catch(String);
      ${floods.join("\n")}
      await shifty.shift({ way: ${random.below(ways)}, added: ${random.pick([0, 10, 2_000])} }).catch(String);
      const got = await Promise.allSettled([shifty.steady({ id: "${id}" }), callTool("shifty", "steady", { id: "${id}" })]);
      await shifty.shift({}).catch(String);
      return got.length;`;
    await agent.call("execute_code", { code }, { random, signal: AbortSignal.timeout(lateMs) });
    await agent.call("execute_code", { code: "await shifty.shift({}).catch(String)" });
  },
};
