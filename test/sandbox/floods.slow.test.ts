/** Code that writes, displays or asks without end: the excess is dropped or refused in the worker. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { Harness, type HarnessOptions, megabyte } from "./harness.ts";

setDefaultTimeout(600_000);

const harness = new Harness();
afterAll(() => harness[Symbol.dispose]());

const patient = { timeoutMs: 500_000, cpuMs: 500_000 };

/** The largest growth of the process while the code ran, in MB. */
async function growthOf(code: string, options: HarnessOptions = {}): Promise<number> {
  await harness.value("return 1", options);
  const before = process.memoryUsage.rss();
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss());
  }, 5);
  await harness.value(code, { ...patient, ...options });
  clearInterval(timer);
  return Math.round((most - before) / megabyte);
}

describe("code that does not wait may", () => {
  const memoryBytes = 256 * megabyte;

  test.each([
    ["log 300,000 lines", 300_000, "console.log('line ' + n)", 250],
    ["ask for the time 300,000 times", 300_000, "performance.now()", 250],
    ["write to stdout 300,000 times without a line break", 300_000, "process.stdout.write('.')", 250],
    ["set and clear 200,000 timers", 200_000, "clearTimeout(setTimeout(() => {}, 1_000))", 250],
  ])("%s", async (_, times, body, mostMb) => {
    const code = `for (let n = 0; n < ${times}; n++) { ${body} } return "done"`;
    expect(await growthOf(code, { memoryBytes })).toBeLessThan(mostMb);
  });
});

describe("displayed values", () => {
  test("are limited to a thousand, however small", async () => {
    const code = `for (let n = 0; ; n++) { try { display(n) } catch (error) { return [n, error.code, error.message] } }`;
    const outcome = await harness.run(code);
    if (!outcome.ok) throw new Error(outcome.error.message);
    expect(outcome.value).toEqual([
      1_000,
      "TOO_MANY_DISPLAYED",
      "The code has displayed 1000 values, which is the limit",
    ]);
    expect(outcome.display).toEqual(Array.from({ length: 1_000 }, (_, n) => n));
  });

  test("without end do not delay another execution", async () => {
    const flood = harness.run('for (;;) { try { display("") } catch {} }', { timeoutMs: 1_500 });
    expect(await harness.value("return 6 * 7")).toBe(42);
    const { ok, display } = await flood;
    expect([ok, display.length]).toEqual([false, 1_000]);
  });
});

describe("requests of tools.list and tools.search", () => {
  const call = async () => ({ json: "1" });

  test("are limited to a thousand", async () => {
    const code = `let n = 0; try { for (;; n++) await tools.list() } catch (error) { return [n, error.code, error.message] }`;
    expect(await harness.value(code, { call, calls: 1 })).toEqual([
      1_000,
      "TOO_MANY_CALLS",
      "The code has called tools.search, tools.describe and tools.list 1000 times, which is the limit",
    ]);
  });

  test("in a flood are not passed on beyond the limit", async () => {
    let asked = 0;
    const counted = async () => {
      asked += 1;
      return { json: "1" };
    };
    const code = `for (let n = 0; n < 20_000; n++) tools.search("x").catch(() => {}); await tools.list().catch(() => {}); return 1`;
    await harness.run(code, { call: counted });
    expect(asked).toBeLessThanOrEqual(1_000);
  });
});

test("calls in a flood are passed on a hundred at a time", async () => {
  let [running, most] = [0, 0];
  const call = async () => {
    running += 1;
    most = Math.max(most, running);
    await Bun.sleep(1);
    running -= 1;
    return { json: "1" };
  };
  const code = `let refused = 0; for (let n = 0; n < 20_000; n++) test.echo().catch(() => refused++); await test.echo().catch(() => {}); return refused`;
  expect(await harness.value(code, { call, callsInFlight: 100, calls: 2_000, ...patient })).toBeGreaterThan(17_000);
  expect(most).toBeLessThanOrEqual(100);
});

test("log lines beyond the limit are counted, and do not reach the host's thread", async () => {
  const { logs, ok } = await harness.run("for (let n = 0; n < 200_000; n++) console.log('n')", {
    logBytes: 10_000,
    ...patient,
  });
  expect(ok).toBe(true);
  expect(logs.length).toBeLessThan(200);
  expect(logs.some(({ text }) => / log lines were dropped here: too many to keep /.test(text))).toBe(true);
});
