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

test("owners get turns, however many keys one of them has", async () => {
  const semaphore = new Semaphore(1);
  semaphore.acquire(undefined, "", "busy");
  const entered: string[] = [];
  const enter = async (owner: string, key: string) => {
    await semaphore.acquire(undefined, key, owner);
    entered.push(`${owner}${key}`);
    semaphore.release(owner);
  };
  const all = [1, 2, 3, 1, 2].map((key) => enter("a", `${key}`));
  all.push(enter("b", "1"), enter("b", "1"));
  semaphore.release("busy");
  await Promise.all(all);
  expect(entered).toEqual(["a1", "b1", "a2", "b1", "a3", "a1", "a2"]);
});

test("the reserve is for owners that have no place", async () => {
  const semaphore = new Semaphore(4, 2);
  expect(semaphore.acquire(undefined, "", "a")).toBeUndefined();
  expect(semaphore.acquire(undefined, "", "a")).toBeUndefined();
  const third = semaphore.acquire(undefined, "", "a");
  expect(third).toBeInstanceOf(Promise);
  expect(semaphore.acquire(undefined, "", "b")).toBeUndefined();
  const ofB = semaphore.acquire(undefined, "", "b");
  expect(ofB).toBeInstanceOf(Promise);
  expect(semaphore.acquire(undefined, "", "c")).toBeUndefined();
  const ofD = semaphore.acquire(undefined, "", "d");
  // The only free place is one of the reserve: it is not for the owners that came first, which have places.
  semaphore.release("c");
  expect(await ofD).toBe(true);
  expect(semaphore.waiting).toBe(2);
  semaphore.release("b");
  // Its owner has no place any more.
  expect(await ofB).toBe(true);
  for (const owner of ["a", "a", "b", "d"]) semaphore.release(owner);
  expect(await third).toBe(true);
  semaphore.release("a");
  expect(semaphore.waiting).toBe(0);
});
