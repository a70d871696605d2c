/** Programs that only wait give their place to compute to others, and go on as if nothing had happened. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { takenMemory } from "../../src/base/machine-memory.ts";
import { megabyte } from "../../src/base/units.ts";
import type { BindingCall } from "../../src/sandbox/contract.ts";
import { Places } from "../../src/sandbox/main-thread/places.ts";
import { CallerShares } from "../../src/sandbox/main-thread/time-shares.ts";
import { eventually } from "../support/eventually.ts";
import { Harness } from "./harness.ts";

setDefaultTimeout(60_000);

test("a program runs while as many others wait for calls and timers as may compute", async () => {
  using narrow = new Harness({ atOnce: 1, inMemory: 8 });
  const ended: string[] = [];
  const run = async (name: string, code: string) => {
    await narrow.value(code);
    ended.push(name);
  };
  await Promise.all([
    run("call", "await test.slow({ ms: 800 })"),
    run("timer", "await sleep(900)"),
    run("short", "return 1"),
  ]);
  expect(ended).toEqual(["short", "call", "timer"]);
});

test("answers and timers that come while a program has no place arrive in their order, and none is lost", async () => {
  using narrow = new Harness({ atOnce: 1, inMemory: 8 });
  const code = `const seen: string[] = [];
    const calls = [100, 300, 500].map(async (ms) => { await test.slow({ ms }); seen.push("call " + ms); });
    const timers = [200, 400, 600].map(async (ms) => { await sleep(ms); seen.push("timer " + ms); });
    const never = setTimeout(() => seen.push("never"), 450);
    sleep(120).then(() => clearTimeout(never));
    await Promise.all([...calls, ...timers]);
    return seen`;
  const patient = narrow.value(code);
  await Bun.sleep(40);
  // It has the only place until all answers and timers are there.
  const busy = narrow.value("const end = Date.now() + 900; while (Date.now() < end); return 1");
  expect(await patient).toEqual(["call 100", "timer 200", "call 300", "timer 400", "call 500", "timer 600"]);
  expect(await busy).toBe(1);
});

test("the time limit is paused while a program has something to compute and no place", async () => {
  using narrow = new Harness({ atOnce: 1, inMemory: 8 });
  const patient = narrow.value("await test.slow({ ms: 50 }); return 'in time'", { timeoutMs: 600 });
  await Bun.sleep(30);
  const busy = narrow.value("const end = Date.now() + 1_500; while (Date.now() < end); return 1");
  expect(await Promise.all([patient, busy])).toEqual(["in time", 1]);
});

test("a program that is cancelled while it has no place ends at once", async () => {
  using narrow = new Harness({ atOnce: 1, inMemory: 8 });
  const ending = new AbortController();
  const patient = narrow.run("await test.slow({ ms: 50 }); return 1", { signal: ending.signal });
  await Bun.sleep(30);
  const busy = narrow.value("const end = Date.now() + 3_000; while (Date.now() < end); return 1");
  await Bun.sleep(300);
  const begun = performance.now();
  ending.abort();
  expect(await patient).toMatchObject({ ok: false, reason: "cancelled" });
  expect(performance.now() - begun).toBeLessThan(2_000);
  expect(await busy).toBe(1);
  expect(await narrow.value("return 2")).toBe(2);
});

test("programs that call each other do not wait for places that they hold themselves", async () => {
  using narrow = new Harness({ atOnce: 1, inMemory: 2 });
  const inner = async (_: BindingCall) => {
    const { sandbox, mounts } = narrow;
    const outcome = await sandbox.run("return 7", {
      bindings: { namespaces: [], call: async () => ({ json: "1" }) },
      limits: (await import("./some-limits.ts")).someLimits({}),
      mounts,
      check: "error",
      turn: { depth: 2 },
    });
    return { json: JSON.stringify(outcome.ok && outcome.value) };
  };
  const all = Array.from({ length: 6 }, () => narrow.value("return test.echo({})", { call: inner }));
  expect(await Promise.all(all)).toEqual(all.map(() => 7));
});

test("hundreds of programs that wait and wake up all end, however few may compute", async () => {
  using narrow = new Harness({ atOnce: 2, inMemory: 8 });
  const code = "for (let n = 0; n < 10; n++) { await test.echo({ n }); await sleep(n % 3); } return 'done'";
  const all = Array.from({ length: 100 }, () => narrow.value(code));
  expect(await Promise.all(all)).toEqual(all.map(() => "done"));
});

test("a program that waits for memory gets it when there is some, although no other program ends", async () => {
  let fullBytes = 0;
  const places = new Places({
    computing: 4,
    inMemory: 8,
    get fullBytes() {
      return fullBytes;
    },
    get growBelowBytes() {
      return fullBytes;
    },
    freeMemory: () => {},
    limitBytes: Number.POSITIVE_INFINITY,
    shares: new CallerShares(),
    parkAfterMs: 5_000,
  });
  const ending = Promise.withResolvers<void>();
  const isIn = [false, false];
  const programs = isIn.map((_, at) =>
    places.inTurn(undefined, { memoryBytes: megabyte }, async () => {
      isIn[at] = true;
      await ending.promise;
    }),
  );
  await Bun.sleep(50);
  expect(isIn).toEqual([true, false]);
  fullBytes = takenMemory() + 1_024 * megabyte;
  await eventually(() => isIn[1]);
  ending.resolve();
  await Promise.all(programs);
  places.close();
});
