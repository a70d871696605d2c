/** Runs a few rounds of `bun run crash`, which loses no call and makes no call twice. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { crashRound, planOf } from "../../scripts/harnesses/crashes.ts";
import { executable } from "../support/claudikins.ts";

// A round takes a few seconds, and the build before the first one longer.
setDefaultTimeout(120_000);

test.each([0, 1, 2, 3, 4])(
  "a program whose processes are killed ends, and its calls are made once: round %i",
  async (index) => {
    const { wrong, ends, isLost } = await crashRound(planOf(5, index), [executable()]);
    expect(wrong).toEqual([]);
    // On a busy machine, a process may end before it has answered with a task.
    if (!isLost) expect(Object.keys(ends)).toContain("done");
  },
);
