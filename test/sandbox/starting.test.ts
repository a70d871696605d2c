/** Only a few workers start at the same time. A worker that is ended during its start does not keep the others waiting. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { Harness } from "./harness.ts";

let harness: Harness;
beforeEach(() => {
  harness = new Harness();
});
afterEach(() => harness[Symbol.dispose]());

test("programs that are cancelled while their workers start leave room for the next program", async () => {
  const cancelled = Array.from({ length: 12 }, () => {
    const controller = new AbortController();
    const outcome = harness.run("await new Promise(() => {})", { signal: controller.signal });
    queueMicrotask(() => controller.abort());
    return outcome;
  });
  for (const outcome of await Promise.all(cancelled)) expect(outcome).toMatchObject({ ok: false, reason: "cancelled" });

  expect(await harness.value("return 1")).toBe(1);
});

test("twelve programs that start together all run", async () => {
  const values = await Promise.all(Array.from({ length: 12 }, (_, index) => harness.value(`return ${index}`)));
  expect(values).toEqual(Array.from({ length: 12 }, (_, index) => index));
});

test("a program that computes without a pause does not keep the next worker from starting", async () => {
  // Longer than the test may take, so that only its cancellation ends it.
  const controller = new AbortController();
  const busy = harness.run("for (;;);", { signal: controller.signal });
  expect(await harness.value("return 1")).toBe(1);
  controller.abort();
  expect(await busy).toMatchObject({ ok: false, reason: "cancelled" });
});
