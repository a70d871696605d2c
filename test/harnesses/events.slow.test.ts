/** Runs two rounds of `bun run events`, which loses no event and runs none twice. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { planOf } from "../../scripts/harnesses/events/plan.ts";
import { eventRound } from "../../scripts/harnesses/events/run.ts";
import { executable } from "../support/claudikins.ts";

// A round takes about fifteen seconds, and the build before the first one longer.
setDefaultTimeout(180_000);

test.each([0, 1])("every event is run once while processes are killed: round %i", async (index) => {
  const { wrong, ends, deaths } = await eventRound(planOf(3, index), [executable()]);
  expect(wrong).toEqual([]);
  expect(ends["done"]).toBeGreaterThan(0);
  expect(deaths).toBeGreaterThan(0);
});
