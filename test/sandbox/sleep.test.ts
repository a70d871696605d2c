/** `sleep` waits for a duration in milliseconds or in words, and timers may be longer than those of the host. */
import { afterAll, describe, expect, jest, setDefaultTimeout, test } from "bun:test";
import { createEngine, findEndAddress } from "../../src/sandbox/engine/engine.ts";
import { runGuest } from "../../src/sandbox/engine/snapshot.ts";
import { compiledEngine } from "../../src/sandbox/engine/wasm.ts";
import { guestScript } from "../../src/sandbox/guest/bundle.ts";
import { newState } from "../../src/sandbox/messages.ts";
import type { CodeResult } from "../../src/sandbox/worker/code-result.ts";
import { CodeRun } from "../../src/sandbox/worker/code-run.ts";
import { type HostCalls, ReusableContext } from "../../src/sandbox/worker/reusable-context.ts";
import { Harness } from "./harness.ts";
import { someLimits } from "./some-limits.ts";

setDefaultTimeout(60_000);

const script: string = guestScript();
const harness = new Harness();
afterAll(() => harness[Symbol.dispose]());

/** A context in this thread. */
async function contextHere(): Promise<ReusableContext> {
  const wasm = await compiledEngine();
  const engine = await createEngine(wasm, 32 * 1_048_576);
  return new ReusableContext(engine, await findEndAddress(wasm), (context) => runGuest(context, script));
}

const [second, hour, day] = [1_000, 3_600_000, 86_400_000];

test("sleep takes milliseconds, or a text with units", async () => {
  const context = await contextHere();
  const delays: number[] = [];
  const setTimer = (_: number, delayMs: number) => void delays.push(delayMs);
  context.enter({ stopped: () => false, setTimer } as Partial<HostCalls> as HostCalls, someLimits());
  const expected: [duration: unknown, ms: number][] = [
    [500, 500],
    [0, 0],
    ["250ms", 250],
    ["90s", 90 * second],
    ["1.5 h", 1.5 * hour],
    ["1h30m", 1.5 * hour],
    ["1h 30 min 5 s", 1.5 * hour + 5 * second],
    ["2 days", 2 * day],
    [" 10 Minutes ", 600 * second],
    ["30d", 30 * day],
  ];
  for (const [duration] of expected) context.evaluate(`sleep(${JSON.stringify(duration)})`, "code.ts").dispose();
  expect(delays).toEqual(expected.map(([, ms]) => ms));
});

const refused = async (argument: string) =>
  harness.value(`return sleep(${argument}).catch((error) => error.name + ": " + error.message)`);

test.each(['"soon"', '"5"', '"2 fortnights"', '"1h,30m"', '"-5s"', '""', "-1", "NaN", "undefined", "null", "{}"])(
  "sleep(%s) fails and names the forms",
  async (argument) => {
    expect(await refused(argument)).toMatch(
      /^TypeError: sleep: .+ is not a duration\. Give milliseconds as a number, or a text such as "250ms", "90s", "1\.5 h", "1h30m" or "2 days"\.$/,
    );
  },
);

test.each(["Infinity", '"31 days"', "3e9"])("sleep(%s) fails, because it is too long", async (argument) => {
  expect(await refused(argument)).toMatch(/^RangeError: sleep: .+ is more than 30 days$/);
});

describe("sleep", () => {
  test("ends after its time, with no value", async () => {
    const code =
      "const at = performance.now(); const value = await sleep('20ms'); return [value, performance.now() - at >= 19]";
    expect(await harness.value(code)).toEqual([null, true]);
  });

  test("ends with its signal", async () => {
    const code = `const stop = new AbortController(); setTimeout(() => stop.abort(new Error("enough")), 5);
      return sleep("1h", { signal: stop.signal }).catch((error) => error.message)`;
    expect(await harness.value(code)).toBe("enough");
  });

  test("may be declared by a program itself", async () => {
    expect(await harness.value("const sleep = (ms: number) => ms * 2; return sleep(4)")).toBe(8);
  });
});

test("a timer of more than 24 days, the longest of the host, fires in time", async () => {
  const context = await contextHere();
  const ended = Promise.withResolvers<CodeResult>();
  const code = 'const at = Date.now(); await sleep("30 days"); return "slept"';
  const execution = new CodeRun(context, {
    run: {
      type: "run",
      source: code,
      check: "error",
      namespaces: [],
      mounts: { workspace: "/nowhere/workspace", registry: "/nowhere/registry" },
      limits: someLimits(),
      deadline: Number.POSITIVE_INFINITY,
      state: newState(),
      isKept: false,
      tellsFiles: false,
    },
    code,
    isKept: false,
    onEnd: ({ result }) => ended.resolve(result),
    send() {},
  });
  jest.useFakeTimers();
  try {
    execution.start();
    jest.advanceTimersByTime(30 * day - 1);
    execution.checkStopped();
    expect(Bun.peek.status(ended.promise)).toBe("pending");
    jest.advanceTimersByTime(1);
    expect(Bun.peek(ended.promise)).toMatchObject({ ok: true, json: '"slept"' });
  } finally {
    jest.useRealTimers();
  }
});
