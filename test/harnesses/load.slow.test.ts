/** A few seconds of `bun run load`: a flood behind a door with a quota is answered, and the calls of other agents succeed. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { type floods, load } from "../../scripts/harnesses/load.ts";

setDefaultTimeout(180_000);

// Times are not compared here: other tests run beside this one.
test("agents work while another one floods a door with a quota", async () => {
  // One of each sort: places that are taken, a quota that is used up, and a program that reaches its limit.
  const kinds = ["callsAtOnce", "mbPerDay", "seconds"] satisfies (keyof typeof floods)[];
  const results = await load({ seconds: 1, rounds: 1, seed: 7, kinds });
  for (const { kind, alone, floods: answered, errors } of results) {
    expect({ kind, errors, isMeasured: alone > 0, isAnswered: answered > 0 }).toEqual({
      kind,
      errors: [],
      isMeasured: true,
      isAnswered: true,
    });
  }
});
