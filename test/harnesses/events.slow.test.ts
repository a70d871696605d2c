/** Runs two rounds of `bun run events`, which loses no event and runs none twice: one of a user, and one of a team. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { planOf } from "../../scripts/harnesses/events/plan.ts";
import { storm } from "../../scripts/harnesses/events/run.ts";
import { executable } from "../support/claudikins.ts";
import { postgresNote } from "../support/postgres.ts";

// A round takes about fifteen seconds, and the build before the first one longer.
setDefaultTimeout(240_000);

const rounds = async (index: number) => {
  const { wrong, ends, deaths } = await storm({ plans: [planOf(3, index)], command: [executable()], parallel: 1 });
  expect(wrong).toEqual([]);
  expect(ends["done"]).toBeGreaterThan(0);
  expect(deaths).toBeGreaterThan(0);
};

// A round waits more than it computes, so both run at the same time.
test.concurrent("every event is run once while processes of a user are killed and frozen", () => rounds(0));

test.concurrent.skipIf(postgresNote !== "")(`every event is run once while replicas are killed${postgresNote}`, () =>
  rounds(3),
);
