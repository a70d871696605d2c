/** A short run of `bun run console`: the page keeps what does not depend on how busy the machine is. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { growthOf, measureConsole } from "../../scripts/harnesses/console/measure.ts";
import { framesPerSecond } from "../../scripts/harnesses/console/page.ts";
import { problemsOf } from "../../scripts/harnesses/console/targets.ts";
import { browserNote, chromiumPath } from "../support/browser.ts";

setDefaultTimeout(180_000);

// Times are not compared here: other tests run beside this one.
test.skipIf(chromiumPath === undefined)(
  `a page with many rows draws few of them, and says nothing${browserNote}`,
  async () => {
    const options = { executions: 1_000, tools: 300, minutes: 0.1, seconds: 1, seed: 5 };
    const figures = await measureConsole(options);
    const { scrolls, live, pings, looks, said } = figures;
    expect({ looks: looks.looks, said, failed: live.failed }).toEqual({ looks: [], said: [], failed: [] });
    for (const { name, elements } of [...scrolls, ...live.scrolls])
      expect([name, elements < 2_000]).toEqual([name, true]);
    for (const count of [live.executions, pings.daemon.count, pings.serve.count]) expect(count).toBeGreaterThan(0);
    const start = figures.start.map((each) => ({ ...each, usefulMs: 400, workedMs: 400, waitedMs: 0 }));
    expect(problemsOf({ ...figures, start })).toContain("the page was useful after 400 ms");
  },
);

test("frames are counted by the second, and memory by its slope without the first quarter", () => {
  const frames = [
    ...Array.from({ length: 60 }, (_, at) => at * 16.6),
    ...Array.from({ length: 31 }, (_, at) => 1_000 + at * 35),
  ];
  expect(framesPerSecond(frames)).toEqual({ median: 60, worst: 29 });
  const memory = [9, 3, 3.1, 3.2, 3.3].map((heapMb, minute) => ({ minute, heapMb }));
  expect(growthOf(memory)).toBeCloseTo(0.1);
});
