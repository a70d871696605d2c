/** Two servers ask hostile questions while a program makes gated calls, and an agent of either era answers. */
import { Random } from "../../random.ts";
import { gatedServers } from "../site.ts";
import { gatedCall, type Kind, type Run } from "./kind.ts";

/** Programs that run at once, with one agent. */
const mostAtOnce = 3;

/** Time in milliseconds after which a call is cancelled. */
const lateMs = 4_000;

export const questionsKind: Kind = {
  name: "hostile questions and answers",
  weight: 15,
  async run(run) {
    const { seed, index, processes } = run;
    const agent = run.random.chance(0.65) ? await processes.newer() : await processes.older();
    const programs = Array.from({ length: 1 + run.random.below(mostAtOnce) }, async (_, place) => {
      const random = new Random(seed, index * mostAtOnce + place);
      const code = codeOf({ ...run, random });
      return await agent.call("execute_code", { code }, { random, signal: AbortSignal.timeout(lateMs) });
    });
    await Promise.all(programs);
    // Programs that still wait for a person end.
    processes.site.expireApprovals();
  },
};

function codeOf(run: Run): string {
  const { seed, index, random } = run;
  const steps = Array.from({ length: 1 + random.below(4) }, () => {
    const asker = random.chance(0.3) ? random.pick(["new_left", "new_right"]) : random.pick(gatedServers);
    const ask = `${asker}.ask({ seed: ${seed}, index: ${index * 100 + random.below(100)} })`;
    const [asks, calls] = [ask, gatedCall(run)].map((call) => {
      return random.chance(0.2) ? `all.push(await ${call}.catch(String));` : `all.push(${call}.catch(String));`;
    });
    const pause = `await sleep(${random.pick([0, 100, 200, 250, 300, 400])});`;
    return random
      .pick([
        [asks, pause, calls],
        [asks, pause, calls],
        [asks, pause, calls],
        [calls, asks],
        [asks, pause],
      ])
      .join("\n");
  });
  return `const all = [];\n${steps.join("\n")}\nreturn (await Promise.all(all)).length;`;
}
