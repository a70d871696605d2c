/** Work that anybody can cause runs seldom, and everybody hears of what was there when it was asked for. */
import { expect, test } from "bun:test";
import { spaced } from "../../src/base/spaced.ts";

test("the first run is at once, and all who ask during a pause share the next one", async () => {
  const runs: number[] = [];
  const begunAt = performance.now();
  const ask = spaced(async () => void runs.push(performance.now() - begunAt), 200);
  await ask();
  expect(runs).toHaveLength(1);
  expect(runs[0]).toBeLessThan(150);
  await Promise.all(Array.from({ length: 10_000 }, ask));
  expect(runs).toHaveLength(2);
  expect(runs[1]! - runs[0]!).toBeGreaterThanOrEqual(195);
});

test("a run that has begun does not count for those who ask afterwards", async () => {
  let state = "old";
  const read: string[] = [];
  const going: PromiseWithResolvers<void>[] = [];
  const ask = spaced(async () => {
    read.push(state);
    const one = Promise.withResolvers<void>();
    going.push(one);
    await one.promise;
  }, 10);
  const first = ask();
  while (going.length === 0) await Bun.sleep(1);
  state = "new";
  const second = ask();
  await Bun.sleep(50);
  // Not two at the same time either.
  expect(read).toEqual(["old"]);
  going[0]!.resolve();
  await first;
  while (going.length === 1) await Bun.sleep(1);
  going[1]!.resolve();
  await second;
  expect(read).toEqual(["old", "new"]);
});

test("a run that fails fails for those who share it, and not for the next", async () => {
  let fails = true;
  const ask = spaced(async () => {
    if (fails) throw new Error("down");
  }, 10);
  const all = await Promise.allSettled([ask(), ask()]);
  expect(all.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  fails = false;
  expect(await ask()).toBeUndefined();
});
