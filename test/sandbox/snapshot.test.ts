/** The snapshot of the executable fits every new engine, on any machine and with any memory size. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { createEngine, findEndAddress } from "../../src/sandbox/engine/engine.ts";
import { changedRuns } from "../../src/sandbox/engine/memory-runs.ts";
import type { ReadyMemory } from "../../src/sandbox/engine/remembered.ts";
import {
  allocationMark,
  restoreReady,
  restoreSnapshot,
  runGuest,
  takeSnapshot,
} from "../../src/sandbox/engine/snapshot.ts";
import { compiledEngine } from "../../src/sandbox/engine/wasm.ts";
import { guestScript } from "../../src/sandbox/guest/bundle.ts";
import { ReusableContext } from "../../src/sandbox/worker/reusable-context.ts";
import { runProgram } from "../support/process.ts";
import { temporaryFolder } from "../support/temporary.ts";
import { Harness, megabyte } from "./harness.ts";

setDefaultTimeout(60_000);

const script: string = guestScript();
const endAddress = await findEndAddress(await compiledEngine());
const freshEngine = async (megabytes = 64) => createEngine(await compiledEngine(), megabytes * megabyte);

test("the snapshot is small, and always of the same size", async () => {
  const snapshot = takeSnapshot(await freshEngine(), endAddress, script);
  expect(snapshot.length).toBeLessThan(2 * megabyte);
  expect(takeSnapshot(await freshEngine(), endAddress, script).length).toBe(snapshot.length);
});

test.each([
  ["another size", "16", {}],
  ["another locale and path", "64", { LANG: "de_DE.UTF-8", PATH: `${process.env["PATH"]}:/somewhere/else` }],
])("the snapshot is restored in another process with %s", async (_, memoryMb, env) => {
  using folder = temporaryFolder();
  const file = join(folder.path, "snapshot");
  await Bun.write(file, takeSnapshot(await freshEngine(), endAddress, script));
  const { stdout, stderr } = await runProgram([process.execPath, join(import.meta.dir, "restore.ts"), file, memoryMb], {
    env,
  });
  expect({ ...JSON.parse(stdout || "{}"), stderr }).toEqual({
    restored: true,
    result: { ok: true, json: '["number","undefined","undefined",[1,2,3]]' },
    stderr: "",
  });
});

test("the snapshot is refused by an engine with another history", async () => {
  const snapshot = takeSnapshot(await freshEngine(), endAddress, script);
  const engine = await freshEngine();
  let restored: boolean | undefined;
  new ReusableContext(engine, endAddress, (context) => {
    context.setProp(context.global, "more", context.newString("than usual"));
    restored = restoreSnapshot(engine, context, snapshot);
    runGuest(context, script);
  });
  expect(restored).toBe(false);
});

test("the memory of a ready engine fits another one, which then differs by its memory limit only", async () => {
  let ready: ReadyMemory | undefined;
  const first = new ReusableContext(await freshEngine(), endAddress, (context, reusable) => {
    const mark = allocationMark(context);
    runGuest(context, script);
    ready = { mark, endAddress, ...reusable.share() };
  });
  const second = await freshEngine(32);
  let restored: boolean | undefined;
  const cell = new ReusableContext(second, endAddress, (context) => {
    restored = restoreReady(second, context, ready!);
  });
  const differing = (reusable: ReusableContext) => {
    const { statics, heap } = reusable.share();
    const parts = [statics, heap].map(({ copy }, index) =>
      changedRuns([ready!.statics, ready!.heap][index]!.copy, copy),
    );
    return parts.flat().reduce((sum, { length }) => sum + length, 0);
  };
  expect(restored).toBe(true);
  expect(differing(cell)).toBeLessThan(32_768);
  expect(differing(cell)).toBe(differing(first));
});

test("random numbers still differ between executions", async () => {
  using harness = new Harness();
  const values = await Promise.all([1, 2, 3].map(() => harness.value("return [Math.random(), Math.random()]")));
  const numbers = values.flat() as number[];
  expect(new Set(numbers).size).toBe(6);
  for (const number of numbers) expect(number >= 0 && number < 1).toBe(true);
  expect(
    await harness.value(
      "let sum = 0; for (let i = 0; i < 10_000; i++) sum += Math.random(); return Math.abs(sum / 10_000 - 0.5) < 0.02",
    ),
  ).toBe(true);
});
