/** Approvals of many programs expire together, while several processes look. */
import { gatedCall, type Kind } from "./kind.ts";
import { endAll, inBackground } from "./parked.ts";

const lateMs = 8_000;

export const expiringKind: Kind = {
  name: "approvals that expire together",
  weight: 2,
  async run(run) {
    const { random, processes } = run;
    const agents = [await processes.newer(), await processes.older()];
    const programs = random.pick([2, 5, 12]);
    const codes = Array.from({ length: programs }, () => {
      const calls = Array.from({ length: random.pick([5, 20]) }, () => gatedCall(run));
      return `return (await Promise.allSettled([${calls.join(", ")}])).length`;
    });
    const agent = random.pick(agents);
    const ids = await inBackground(agent, codes);
    const deadline = performance.now() + lateMs;
    for (let before = -1; performance.now() < deadline; ) {
      const open = processes.site.openApprovals();
      if (open > 0 && open === before) break;
      before = open;
      await Bun.sleep(150);
    }
    await endAll(agent, processes, ids);
  },
};
