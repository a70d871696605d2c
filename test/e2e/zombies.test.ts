/** A few rounds of `bun run zombies`: every way to die twice, and nothing is left after any. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { planOf, zombieRound } from "./zombies.ts";

// A round takes one or two seconds, the build before the first one some more.
setDefaultTimeout(60_000);

const rounds = Array.from({ length: 12 }, (_, index) => planOf(4, index));

test.each(rounds.map((plan) => [plan.command, plan.death, plan.work, plan] as const))(
  "%s, %s, %s",
  async (...[, , , plan]) => {
    const { left, had } = await zombieRound(plan);
    expect(left).toEqual([]);
    expect(had).toBeGreaterThan(0);
  },
);
