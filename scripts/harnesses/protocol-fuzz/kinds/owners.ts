/** Tokens and people work at two replicas and save programs of the same names, while some of them send hostile requests. */
import { Random } from "../../random.ts";
import { honestly } from "../owners/honest.ts";
import { hostile } from "../owners/hostile.ts";
import type { Owner } from "../owners/owner.ts";
import type { Kind } from "./kind.ts";

/** Numbers from which the random numbers of an owner are made. */
const seeds = 2 ** 31;

export const ownersKind: Kind = {
  name: "owners over HTTP at two replicas",
  weight: 10,
  async run({ random, processes }) {
    const site = await processes.owners();
    const work = site.owners.flatMap((owner) => {
      const honest = new Random(random.below(seeds), owner.number);
      const evil = new Random(random.below(seeds), owner.number);
      return [works(owner, honest, random.below(4)), attacks(site.attackers[owner.number]!, evil, random.below(6))];
    });
    await Promise.all(work);
    await site.expireApprovals();
    site.judge();
  },
};

/** One step after the other, as the next one may need what the one before has saved. */
async function works(owner: Owner, random: Random, steps: number): Promise<void> {
  const leaving = new AbortController();
  if (steps > 0 && random.chance(0.3)) void owner.listen(random, leaving.signal).catch(() => {});
  for (let step = 0; step < steps; step++) await honestly(owner, random);
  leaving.abort();
}

async function attacks(owner: Owner, random: Random, requests: number): Promise<void> {
  for (let request = 0; request < requests; request++) {
    // Requests that are cut off or refused are as they should be.
    await hostile(owner, random).catch(() => owner.leave().catch(() => {}));
  }
}
