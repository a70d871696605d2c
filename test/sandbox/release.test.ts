/** A sandbox ends its waiting workers when it is told to. No execution notices. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { compiledEngine } from "../../src/sandbox/engine/wasm.ts";
import { Harness } from "./harness.ts";

// From source without a build, each release makes the engine again, which takes a second, and more on a busy machine.
setDefaultTimeout(180_000);

/** The workers of programs that a test has started, and those that it has ended. Other workers of this process end by timers. */
let started: Worker[];
let ended: Worker[];

const RealWorker = Worker;
class RecordedWorker extends RealWorker {
  constructor(url: string | URL, options?: WorkerOptions) {
    super(url, options);
    if (String(url).endsWith("/sandbox/worker/worker.ts")) started.push(this);
  }

  override terminate(): void {
    if (started.includes(this)) ended.push(this);
    super.terminate();
  }
}

let harness: Harness;
beforeEach(() => {
  started = [];
  ended = [];
  globalThis.Worker = RecordedWorker;
  harness = new Harness();
});
afterEach(() => {
  harness[Symbol.dispose]();
  globalThis.Worker = RealWorker;
});

test("released workers end with the compiled engine, and the next execution starts another worker", async () => {
  await Promise.all([harness.value("return 1"), harness.value("return 2")]);
  const engine = await compiledEngine();
  await harness.sandbox.releaseWorkers();
  // The second program may have waited for the worker of the first.
  const before = started.length;
  expect(new Set(ended)).toEqual(new Set(started));
  await harness.sandbox.releaseWorkers();
  expect(ended).toHaveLength(before);
  expect(await harness.value("return 3")).toBe(3);
  expect(started).toHaveLength(before + 1);
  expect(await compiledEngine()).not.toBe(engine);
});

test("an execution that runs is not affected by a release, and its worker is kept afterwards", async () => {
  const called = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<void>();
  const running = harness.value("return (await test.echo({ i: 1 })).i", {
    async call({ args }) {
      called.resolve();
      await answer.promise;
      return { json: JSON.stringify(args) };
    },
  });
  await called.promise;
  await harness.sandbox.releaseWorkers();
  answer.resolve();
  expect(await running).toBe(1);
  expect(await harness.value("return 2")).toBe(2);
  expect([started.length, ended]).toEqual([1, []]);
});

test("executions that start during a release run once", async () => {
  const calls: unknown[] = [];
  const run = (i: number) =>
    harness.value(`return (await test.echo({ i: ${i} })).i`, {
      async call({ args }) {
        calls.push(args["i"]);
        return { json: JSON.stringify(args) };
      },
    });
  const numbers = Array.from({ length: 20 }, (_, i) => i);
  const values: unknown[] = [];
  for (const i of numbers) {
    const before = run(i);
    const released = harness.sandbox.releaseWorkers();
    const after = run(100 + i);
    values.push(await before, await after);
    await released;
  }
  const expected = numbers.flatMap((i) => [i, 100 + i]);
  expect(values).toEqual(expected);
  expect(calls.toSorted()).toEqual(expected.toSorted());
});

test("a disposed sandbox releases nothing", async () => {
  await harness.value("return 1");
  harness.sandbox[Symbol.dispose]();
  await harness.sandbox.releaseWorkers();
});
