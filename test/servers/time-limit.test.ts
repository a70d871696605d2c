/** A time limit that can be paused by several callers. */
import { expect, test } from "bun:test";
import { TimeLimit } from "../../src/base/time-limit.ts";

test("a time limit ends after its time, but not while it is paused", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  let over = false;
  const limit = new TimeLimit(50, () => {
    over = true;
    resolve();
  });
  expect(limit.deadline).toBeLessThanOrEqual(Date.now() + 50);
  limit.hold();
  limit.hold();
  expect(limit.deadline).toBe(Number.POSITIVE_INFINITY);
  await Bun.sleep(150);
  limit.release();
  await Bun.sleep(150);
  expect(over).toBe(false);
  limit.release();
  await promise;
});

test("a time limit restarts, even while it is paused", async () => {
  const limit = new TimeLimit(60_000, () => {});
  const { endsAt } = limit;
  await Bun.sleep(5);
  limit.restart();
  expect(limit.endsAt).toBeGreaterThan(endsAt);
  limit.hold();
  limit.restart();
  limit.release();
  expect(limit.endsAt - performance.now()).toBeGreaterThan(59_000);
  limit.end();
});

test("a time limit that was disposed never ends", async () => {
  let over = false;
  const limit = new TimeLimit(20, () => {
    over = true;
  });
  limit.hold();
  limit.end();
  limit.release();
  await Bun.sleep(100);
  expect(over).toBe(false);
});

test("each of many time limits ends in turn, and errors of one do not affect others", async () => {
  const order: number[] = [];
  const all = Promise.withResolvers<void>();
  const limits = [300, 100, 200, 100, 400].map(
    (ms, at) =>
      new TimeLimit(ms, () => {
        order.push(at);
        if (at === 1) limits[3]!.end();
        if (order.length === 4) all.resolve();
      }),
  );
  await all.promise;
  expect(order).toEqual([1, 2, 0, 4]);
});
