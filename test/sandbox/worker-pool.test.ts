/** Programs wait for workers in turn; workers start when none is freed, and stay when they are likely to be needed. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { guestScript } from "../../src/sandbox/guest/bundle.ts";
import { firstMemoryBytes } from "../../src/sandbox/limits.ts";
import { type ReadyWorker, WorkerPool } from "../../src/sandbox/main-thread/worker-pool.ts";

setDefaultTimeout(20_000);

const memoryBytes = 64 * 1_048_576;
let pool: WorkerPool;
beforeEach(() => {
  pool = new WorkerPool(guestScript(), 1);
});
afterEach(() => pool[Symbol.dispose]());

const take = (count: number, size = memoryBytes) => Promise.all(Array.from({ length: count }, () => pool.take(size)));
const workersOf = (taken: ReadyWorker[]) => new Set(taken.map(({ worker }) => worker));

test("a freed worker goes to the program that waits longest, and a newcomer does not pass it", async () => {
  const [first] = await take(1);
  const got: string[] = [];
  const waits = (name: string, caller: { owner?: string; key?: string }) =>
    pool.take(memoryBytes, caller).then((ready) => {
      got.push(name);
      return ready;
    });
  const waiting = [waits("a1", { owner: "a" }), waits("a2", { owner: "a" }), waits("b1", { owner: "b" })];
  pool.giveBack(first!, true);
  const newcomer = waits("c1", { owner: "c" });
  const second = await waiting[0]!;
  expect(second.worker).toBe(first!.worker);
  // Owners take turns.
  pool.giveBack(second, true);
  expect((await waiting[2]!).worker).toBe(first!.worker);
  expect(got).toEqual(["a1", "b1"]);
  await Promise.all([...waiting, newcomer]);
});

test("another worker starts if none is freed", async () => {
  const taken = await take(3);
  expect(workersOf(taken).size).toBe(3);
  expect(pool.busy).toBe(3);
});

test("as many workers stay as were busy at once", async () => {
  const before = await take(4);
  for (const each of before) pool.giveBack(each, true);
  expect(workersOf(await take(4))).toEqual(workersOf(before));
});

test("a worker that cannot be used again makes room for a new one at once", async () => {
  const [first] = await take(1);
  const next = pool.take(memoryBytes);
  pool.giveBack(first!, false);
  expect((await next).worker).not.toBe(first!.worker);
});

test("a worker of another memory size makes room", async () => {
  const [first] = await take(1);
  pool.giveBack(first!, true);
  const [other] = await take(1, 2 * memoryBytes);
  expect(other!.memoryBytes).toBe(2 * memoryBytes);
  expect(other!.worker).not.toBe(first!.worker);
});

test("a program waits until there is memory for its worker", async () => {
  using narrow = new WorkerPool(guestScript(), 1, { maxBytes: 2 * firstMemoryBytes });
  const [first] = await Promise.all([narrow.take(memoryBytes), narrow.take(memoryBytes)]);
  let isTaken = false;
  const third = narrow.take(memoryBytes).then((ready) => {
    isTaken = true;
    return ready;
  });
  await Bun.sleep(300);
  expect(isTaken).toBe(false);
  narrow.giveBack(first!, false);
  expect((await third).worker).not.toBe(first!.worker);
});
