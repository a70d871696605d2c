/** Callers share the time of the process: each of those that are active gets an equal part of it. */
import { expect, test } from "bun:test";
import {
  activeCallerMs,
  callerReserveMs,
  largestCallerDebtMs,
  sharedCores,
  TimeShares,
} from "../../src/sandbox/main-thread/time-shares.ts";

test("a caller that is alone never waits", () => {
  const shares = new TimeShares();
  for (let each = 0; each < 100; each++) {
    expect(shares.take("heavy", callerReserveMs)).toBeUndefined();
    shares.charge("heavy", callerReserveMs);
  }
});

test("a caller that has used its reserve waits while others are active, and the others do not", async () => {
  const shares = new TimeShares();
  shares.take("light", 1);
  shares.charge("heavy", callerReserveMs + 20);
  const begun = performance.now();
  const waits = shares.take("heavy", 1);
  expect(waits).toBeInstanceOf(Promise);
  expect(shares.take("light", 1)).toBeUndefined();
  await waits;
  // It owes 20 ms, and gets half of the time.
  expect(performance.now() - begun).toBeGreaterThan(35);
});

test("several programs of a caller continue in their order, each with its own time", async () => {
  const shares = new TimeShares();
  shares.take("light", 1);
  shares.charge("heavy", callerReserveMs + 1);
  const begun = performance.now();
  const order: number[] = [];
  const take = async (each: number) => {
    await shares.take("heavy", 20);
    order.push(each);
  };
  await Promise.all([1, 2, 3].map(take));
  expect(order).toEqual([1, 2, 3]);
  // The first two have used 40 ms when the third goes on.
  expect(performance.now() - begun).toBeGreaterThan(75);
});

test("a wait ends when its signal is aborted, and when no other caller is active", async () => {
  const shares = new TimeShares();
  const ending = new AbortController();
  shares.take("light", 1);
  for (let each = 0; each < 10; each++) shares.charge("heavy", largestCallerDebtMs);
  const aborted = shares.take("heavy", 1, ending.signal);
  const other = shares.take("heavy", 1);
  ending.abort();
  await aborted;
  const begun = performance.now();
  await other;
  // It owes 500 ms, which would take a second while the other caller is active.
  expect(performance.now() - begun).toBeGreaterThan(activeCallerMs - 500);
});

test("a caller owes a bounded time", async () => {
  const shares = new TimeShares();
  shares.take("light", 1);
  shares.charge("heavy", 1e9);
  const active = setInterval(() => shares.take("light", 1), 100);
  const begun = performance.now();
  await shares.take("heavy", 1);
  clearInterval(active);
  expect(performance.now() - begun).toBeGreaterThan(2 * largestCallerDebtMs - 50);
});

/** Milliseconds until a caller that owes 40 ms may go on, while another uses a millisecond every `everyMs`. */
async function waitBeside(everyMs: number, other: (shares: TimeShares) => void = () => {}): Promise<number> {
  const shares = new TimeShares();
  shares.take("light", 1);
  other(shares);
  shares.charge("heavy", callerReserveMs + 40);
  const working = setInterval(() => shares.charge("light", 1), everyMs);
  const begun = performance.now();
  await shares.take("heavy", 1);
  clearInterval(working);
  return performance.now() - begun;
}

test("a caller that owes time gets a third of its share while others work that owe less, and all of the time in their pauses", async () => {
  const beside = await waitBeside(20);
  // A third of half of the time of one core, or of more on a larger machine.
  const largest = 40 / (sharedCores / 2 / 3);
  expect(beside).toBeGreaterThan(largest - 30);
  const inPauses = await waitBeside(500);
  expect(inPauses).toBeLessThan(beside - 50);
});

test("callers that owe as much get their shares", async () => {
  const equal = await waitBeside(20, (shares) => shares.charge("light", callerReserveMs + 20));
  expect(equal).toBeLessThan(40 / (sharedCores / 2) + 60);
});
