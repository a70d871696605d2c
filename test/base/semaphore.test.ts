/** Callers wait in order, and callers with different keys get turns. */
import { expect, test } from "bun:test";
import { Semaphore } from "../../src/base/semaphore.ts";

/** Lets the callers in, one after the other, and returns the order. */
async function order(callers: [key: string, name: string][]): Promise<string> {
  const semaphore = new Semaphore(1);
  expect(semaphore.acquire(undefined)).toBeUndefined();
  const entered: string[] = [];
  const all = callers.map(async ([key, name]) => {
    await semaphore.acquire(undefined, key);
    entered.push(name);
    semaphore.release();
  });
  semaphore.release();
  await Promise.all(all);
  return entered.join(" ");
}

test("callers with one key enter in their order", async () => {
  expect(await order(["1", "2", "3"].map((name) => ["a", name]))).toBe("1 2 3");
});

test("a caller with another key waits for one caller only, however many wait with the first key", async () => {
  const many = Array.from({ length: 50 }, (_, index): [string, string] => ["a", `a${index}`]);
  const entered = await order([...many, ["b", "b0"], ["c", "c0"], ["b", "b1"]]);
  expect(entered).toStartWith("a0 b0 c0 a1 b1 a2 a3");
});

test("a caller that gives up leaves no turn behind", async () => {
  const semaphore = new Semaphore(1);
  semaphore.acquire(undefined);
  const given = new AbortController();
  const first = semaphore.acquire(given.signal, "a");
  const second = semaphore.acquire(undefined, "b");
  given.abort();
  expect(await first).toBe(false);
  semaphore.release();
  expect(await second).toBe(true);
  semaphore.release();
  expect(semaphore.acquire(undefined)).toBeUndefined();
});

test("closing ends every wait", async () => {
  const semaphore = new Semaphore(0);
  const waits = ["a", "b", "a"].map((key) => semaphore.acquire(undefined, key));
  semaphore.close();
  expect(await Promise.all(waits)).toEqual([false, false, false]);
});
