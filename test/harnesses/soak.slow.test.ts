/** A few seconds of `bun run soak`: hosts that cancel, disconnect and leave do not affect others. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { problemsOf, soak } from "../../scripts/harnesses/soak.ts";

setDefaultTimeout(180_000);

test("six hosts that cancel and disconnect for a few seconds cause no problems", async () => {
  const result = await soak({ hosts: 6, seconds: 4, seed: 6, parts: 2 });
  expect(problemsOf(result)).toEqual([]);
  const { executions, cancelled, resumed, asked } = result.figures;
  for (const count of [executions, cancelled, resumed, asked]) expect(count).toBeGreaterThan(0);
});
