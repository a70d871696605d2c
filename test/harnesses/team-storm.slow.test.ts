/** Half a minute of `bun run team-storm`: twenty people work at two replicas while one is killed and another one stands still. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Disturbance } from "../../scripts/harnesses/team-storm/plan.ts";
import { teamStorm } from "../../scripts/harnesses/team-storm/storm.ts";
import { postgresNote } from "../support/postgres.ts";

setDefaultTimeout(300_000);

const plan: Disturbance[] = [
  { kind: "kill", atMs: 5_000, forMs: 500, which: 0 },
  // Longer than the lease of a replica.
  { kind: "freeze", atMs: 8_000, forMs: 17_000, which: 0 },
];

describe.skipIf(postgresNote !== "")(`a team at several replicas${postgresNote}`, () => {
  test("loses no program, makes no call twice and sees nothing of each other while replicas fail", async () => {
    const result = await teamStorm({ seed: 5, seconds: 25, people: 20, replicas: 2, pauseMs: 40, isCalm: false, plan });
    expect(result.wrong).toEqual([]);
    expect(result.disturbances.map(({ kind }) => kind)).toEqual(["kill", "freeze"]);
    const { executions, done } = result;
    // On a slow machine, not every kind of work is done in this time.
    const counts = [done["question"], done["over: timer"], done["over: approval"], done["files"]];
    for (const count of [executions.count, counts.filter(Boolean).length]) expect(count).toBeGreaterThan(0);
  });
});
