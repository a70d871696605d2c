/** A few seconds of `bun run load`: a flood behind a door with a quota is answered, and the calls of other agents succeed. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { floods, load } from "../../scripts/harnesses/load.ts";

setDefaultTimeout(180_000);

// Times are not compared here: other tests run beside this one.
test("agents work while another one floods a door with a quota", async () => {
  const results = await load({ seconds: 1, rounds: 1, seed: 7, kinds: Object.keys(floods) });
  for (const { kind, alone, floods: answered, errors } of results) {
    expect({ kind, errors, isMeasured: alone > 0, isAnswered: answered > 0 }).toEqual({
      kind,
      errors: [],
      isMeasured: true,
      isAnswered: true,
    });
  }
});
