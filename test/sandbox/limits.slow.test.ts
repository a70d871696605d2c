/** Every limit of an execution has its own outcome with the next step, and does not affect the next execution. */
import { afterAll, afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { BindingCall, BindingContext, Outcome } from "../../src/sandbox/contract.ts";
import { isTrueWithin } from "../support/eventually.ts";
import { Harness, type HarnessOptions, megabyte } from "./harness.ts";

setDefaultTimeout(120_000);

const harness = new Harness();
afterAll(() => harness[Symbol.dispose]());
afterEach(async () => expect(await harness.value("return (await test.echo({ a: 1 })).a")).toBe(1));

function failed(outcome: Outcome) {
  if (outcome.ok) throw new Error(`it succeeded: ${JSON.stringify(outcome.value)}`);
  return outcome;
}

const spin = "const until = performance.now() + 10_000; while (performance.now() < until);";

describe("the limit of", () => {
  test.each([
    ["wall time, while the code computes", spin, { timeoutMs: 60 }, "timeout", "did not finish within 60 ms"],
    ["wall time, while it waits", "await test.slow({ ms: 20_000 })", { timeoutMs: 60 }, "timeout", "within 60 ms"],
    ["time it computes", spin, { cpuMs: 60 }, "cpu", "The code used 60 ms of CPU time and was stopped"],
    [
      "time it computes, in many small pieces",
      `for (;;) { for (let n = 0; n < 10_000; n++); await null; }`,
      { cpuMs: 60 },
      "cpu",
      "used 60 ms of CPU time",
    ],
    [
      "time it computes, in timers",
      `setInterval(() => { for (let n = 0; n < 50_000; n++); }, 0); await new Promise(() => {});`,
      { cpuMs: 60 },
      "cpu",
      "used 60 ms of CPU time",
    ],
  ] as const)("%s", async (_, code, limits, reason, message) => {
    const outcome = failed(await harness.run(code, limits));
    expect(outcome).toMatchObject({ reason, error: { message: expect.stringContaining(message) } });
    expect(outcome.error.hint).toBeString();
  });

  test("CPU time does not include waiting", async () => {
    expect(await harness.value("await test.slow({ ms: 2_000 }); return 1", { cpuMs: 1_000 })).toBe(1);
  });
});

describe("the stack limit", () => {
  const deep = "let deepest = 0; const down = (n) => { deepest = n; down(n + 1); };";

  test("decreases the possible depth", async () => {
    const depth = (stackBytes: number) =>
      harness.value(`${deep} try { down(1) } catch { return deepest }`, { stackBytes }) as Promise<number>;
    const [little, much] = [await depth(65_536), await depth(262_144)];
    expect(little).toBeGreaterThan(50);
    expect(much).toBeGreaterThan(little * 3);
  });

  test("ends in an outcome", async () => {
    expect(failed(await harness.run(`${deep} down(1)`, { stackBytes: 65_536 })).reason).toBe("stack");
  });
});

describe("tool calls", () => {
  test("beyond the limit are errors that the code can catch", async () => {
    const code = `const answers = await Promise.allSettled(Array.from({ length: 7 }, (_, n) => test.echo({ n })));
      return answers.map(({ value, reason }) => value?.n ?? [reason.name, reason.code, reason.message])`;
    const refused = ["ToolError", "TOO_MANY_CALLS", "The code has made 5 tool calls, which is the limit"];
    expect(await harness.value(code, { calls: 5 })).toEqual([0, 1, 2, 3, 4, refused, refused]);
  });

  test("in an endless loop end", async () => {
    let made = 0;
    const call = async (): Promise<{ json: string }> => ({ json: String(++made) });
    const outcome = failed(await harness.run("for (;;) await test.echo()", { calls: 20, call }));
    expect(outcome).toMatchObject({ reason: "threw", error: { code: "TOO_MANY_CALLS", line: 1 } });
    expect(outcome.error.hint).toContain("limits.calls");
    expect(outcome.receipt.calls).toBe(20);
    expect(made).toBe(20);
  });

  test("do not include requests of tools.list", async () => {
    const call = async ({ namespace }: BindingCall) => ({ json: JSON.stringify(namespace) });
    const code = `for (let n = 0; n < 5; n++) await tools.list(); return await test.echo()`;
    expect(await harness.value(code, { calls: 1, call })).toBe("test");
  });

  test("beyond the limit of concurrent calls wait", async () => {
    let running = 0;
    let most = 0;
    const call = async ({ args }: BindingCall) => {
      running += 1;
      most = Math.max(most, running);
      await Bun.sleep(2);
      running -= 1;
      return { json: JSON.stringify(args) };
    };
    const code = `const all = await Promise.all(Array.from({ length: 30 }, (_, n) => test.echo({ n }))); return all.map((a) => a.n)`;
    expect(await harness.value(code, { callsInFlight: 4, call })).toEqual(Array.from({ length: 30 }, (_, n) => n));
    expect(most).toBe(4);
  });

  test("do not accumulate outside the code's memory if they are not awaited", async () => {
    const code = `const text = "x".repeat(900_000); let refused;
      for (let n = 0; n < 100; n++) test.slow({ ms: 500, text }).catch((error) => { refused ??= error.message });
      await test.slow({ ms: 100 }); return refused`;
    const message = await harness.value(code, { argumentBytes: megabyte });
    expect(message).toStartWith("The arguments of all pending calls add up to 4.3 MB; the limit is 4 MB");
    const inTurn = `for (let n = 0; n < 20; n++) await test.text({ text: "x".repeat(900_000) }); return "all"`;
    expect(await harness.value(inTurn, { argumentBytes: megabyte })).toBe("all");
  });

  test("are dropped with the execution if they wait", async () => {
    let made = 0;
    const call = async (_: BindingCall, { signal }: BindingContext): Promise<never> => {
      made += 1;
      return new Promise((_resolve, reject) =>
        signal.addEventListener("abort", () => reject(new Error("aborted")), { once: true }),
      );
    };
    const code = `await Promise.all(Array.from({ length: 30 }, () => test.echo()))`;
    expect(failed(await harness.run(code, { callsInFlight: 3, timeoutMs: 60, call })).reason).toBe("timeout");
    expect(made).toBe(3);
  });

  test.each([
    [
      "arguments",
      "await test.echo({ text: 'é'.repeat(1_000) })",
      { argumentBytes: 2_000 },
      "ARGUMENTS_TOO_LARGE",
      "The arguments of test.echo are 2 KB; the limit is 2 KB",
    ],
    [
      "a result",
      "await test.echo({ text: 'x'.repeat(3 * 1024 * 1024) })",
      { resultBytes: megabyte },
      "RESULT_TOO_LARGE",
      "The result of test.echo is 3 MB; the limit is 1 MB",
    ],
  ] as [string, string, HarnessOptions, string, string][])(
    "fail if %s is too large",
    async (_, code, limits, name, message) => {
      expect(failed(await harness.run(code, limits)).error).toMatchObject({ code: name, message, line: 1 });
      expect(await harness.value(`try { ${code} } catch (error) { return error.code }`, limits)).toBe(name);
    },
  );
});

describe("the output", () => {
  test("is an error if a value is too large", async () => {
    const outcome = failed(await harness.run("return 'x'.repeat(2 * 1024 * 1024)", { valueBytes: megabyte }));
    expect(outcome.error).toMatchObject({
      code: "VALUE_TOO_LARGE",
      message: "The value is 2 MB; the limit is 1 MB",
      hint: expect.stringContaining("./workspace"),
    });
  });

  test("includes all displayed values", async () => {
    const picture = "{ type: 'text', text: 'x'.repeat(600_000) }";
    const outcome = failed(await harness.run(`display(${picture}); display(${picture})`, { valueBytes: megabyte }));
    expect(outcome.error).toMatchObject({
      code: "VALUE_TOO_LARGE",
      message: expect.stringContaining("The displayed values are"),
    });
    expect(outcome.display).toHaveLength(1);
  });

  test("keeps the first and last of 200,000 lines, and the number of the others", async () => {
    const { logs, ok } = await harness.run("for (let n = 0; n < 200_000; n++) console.log('line ' + n)", {
      logBytes: 100_000,
    });
    expect(ok).toBe(true);
    expect(logs.length).toBeLessThan(2_000);
    const texts = logs.map(({ text }) => text);
    const gap = texts.findIndex((text) => text.includes("too many to keep"));
    const missing = Number(/^… (\d+) log lines/.exec(texts[gap]!)?.[1]);
    expect(texts.slice(0, gap)).toEqual(Array.from({ length: gap }, (_, n) => `line ${n}`));
    expect(texts.at(-1)).toBe("line 199999");
    expect(texts[gap + 1]).toBe(`line ${gap + missing}`);
    expect(gap + missing + (texts.length - gap - 1)).toBe(200_000);
  });

  test("keeps the last lines before a failure", async () => {
    const code = "for (let n = 0; n < 50_000; n++) console.log(n); throw new Error('at the end')";
    const outcome = failed(await harness.run(code, { logBytes: 10_000 }));
    expect(outcome.logs.at(-1)).toEqual({ level: "log", text: "49999" });
  });

  test("cuts a line that is too long, with a note", async () => {
    const { logs } = await harness.run("console.log('a'.repeat(1_000_000)); console.log('b')", { logBytes: 40_000 });
    expect(logs).toHaveLength(2);
    expect(logs[0]!.text).toMatch(/^a{1000,}… \(\d+ more characters in this line\)$/);
    expect(logs[1]!.text).toBe("b");
  });
});

describe("concurrent executions", () => {
  /** The most programs that are in memory at once, of several that begin together. They stay until as many as expected are there. */
  async function mostAtOnce(harness: Harness, programs: number, expected: number): Promise<number> {
    let running = 0;
    let most = 0;
    const call = async () => {
      running += 1;
      most = Math.max(most, running);
      await isTrueWithin(5_000, () => most >= expected);
      // More than expected would come now.
      await Bun.sleep(300);
      running -= 1;
      return { json: "1" };
    };
    await Promise.all(Array.from({ length: programs }, () => harness.value("return test.echo({})", { call })));
    return most;
  }

  test("the time limit of an execution that waits begins when it starts", async () => {
    using narrow = new Harness({ atOnce: 1, inMemory: 1 });
    const first = narrow.value("await test.slow({ ms: 7_000 }); return 1");
    const second = narrow.value("return 2", { timeoutMs: 6_000 });
    expect(await Promise.all([first, second])).toEqual([1, 2]);
  });

  test("at most as many executions run as the limit allows", async () => {
    using narrow = new Harness({ atOnce: 2, inMemory: 2 });
    let running = 0;
    let most = 0;
    const order: unknown[] = [];
    const call = async ({ args }: BindingCall) => {
      order.push(args["n"]);
      running += 1;
      most = Math.max(most, running);
      await Bun.sleep(30);
      running -= 1;
      return { json: "1" };
    };
    const all = Array.from({ length: 8 }, (_, n) => narrow.value(`return test.echo({ n: ${n} })`, { call }));
    expect(await Promise.all(all)).toEqual(all.map(() => 1));
    expect(most).toBe(2);
    expect(order.toSorted()).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  test.each([
    ["as many as allowed, as long as there is memory", {}, 4],
    ["no more than may compute, when the process takes much", { fullBytes: 0 }, 2],
    ["as many as the engine gives memory to", { engineBytes: 70 * megabyte }, 3],
  ])("in memory are %s", async (_, memory, expected) => {
    using narrow = new Harness({ atOnce: 2, inMemory: 4, ...memory });
    expect(await mostAtOnce(narrow, 6, expected)).toBe(expected);
  });

  test("are more at once when programs have turned out to be small", async () => {
    using narrow = new Harness({ atOnce: 2, inMemory: 12, fullBytes: process.memoryUsage.rss() + 400 * megabyte });
    expect(await mostAtOnce(narrow, 12, 1)).toBeLessThan(9);
    for (let n = 0; n < 20; n++) await narrow.value("return 1");
    expect(await mostAtOnce(narrow, 12, 12)).toBe(12);
  });

  test("without memory are not run, and say what to do", async () => {
    using harness = new Harness();
    const { reason, error } = failed(await harness.run("return 1", { memoryBytes: 8_192 * megabyte }));
    expect(reason).toBe("memory");
    expect(error.message).toBe("This machine has no memory for another program. The code was not run");
    expect(error.hint).toContain("more memory");
    expect(await harness.value("return 2")).toBe(2);
  });

  test("leave their place while a person is asked, and continue at once with the answer", async () => {
    using narrow = new Harness({ atOnce: 1, inMemory: 1 });
    const asked = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    const call = async (_: BindingCall, { clock }: BindingContext) => {
      clock?.hold();
      asked.resolve();
      await answered.promise;
      clock?.release();
      return { json: "1" };
    };
    const first = narrow.value("return await test.echo({})", { call });
    await asked.promise;
    expect(await narrow.value("return 2")).toBe(2);
    const long = narrow.value("await test.slow({ ms: 200 }); return 3");
    answered.resolve();
    expect(await first).toBe(1);
    const last = narrow.value("return 4");
    expect(await Promise.all([long, last])).toEqual([3, 4]);
  });

  test("cancelled while a person is asked leave the number of places as it was", async () => {
    using narrow = new Harness({ atOnce: 1, inMemory: 1 });
    for (let count = 0; count < 3; count++) {
      const cancel = new AbortController();
      const call = async (_: BindingCall, { signal, clock }: BindingContext) => {
        clock?.hold();
        setTimeout(() => cancel.abort());
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        clock?.release();
        return { json: "1" };
      };
      expect(failed(await narrow.run("return await test.echo({})", { call, signal: cancel.signal })).reason).toBe(
        "cancelled",
      );
    }
    let running = 0;
    const one = async () => {
      running += 1;
      expect(running).toBe(1);
      await Bun.sleep(20);
      running -= 1;
      return { json: "1" };
    };
    await Promise.all([1, 2, 3].map(() => narrow.value("return await test.echo({})", { call: one })));
  });

  test("can be cancelled while they wait, without delaying others", async () => {
    using narrow = new Harness({ atOnce: 1, inMemory: 1 });
    const controller = new AbortController();
    const first = narrow.value("await test.slow({ ms: 100 }); return 1");
    const second = narrow.run("return 2", { signal: controller.signal });
    const third = narrow.value("return 3");
    await Bun.sleep(20);
    controller.abort();
    expect(failed(await second).reason).toBe("cancelled");
    expect(await Promise.all([first, third])).toEqual([1, 3]);
  });

  test("end with the sandbox", async () => {
    const narrow = new Harness({ atOnce: 1, inMemory: 1 });
    void narrow.run("for (;;);");
    const waiting = narrow.run("return 2");
    await Bun.sleep(50);
    narrow[Symbol.dispose]();
    expect(failed(await waiting).reason).toBe("cancelled");
  });
});

describe("cancelling ends", () => {
  test.each([
    ["code that computes", spin],
    ["code in a loop of the engine", "Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)"],
    ["code that waits for a tool", "await test.slow({ ms: 20_000 })"],
    ["code that waits for a timer", "await new Promise((done) => setTimeout(done, 20_000))"],
    ["code that catches everything", "for (;;) { try { await test.slow({ ms: 20_000 }) } catch {} }"],
    ["code that floods", "for (;;) await null"],
  ])("%s", async (_, code) => {
    const controller = new AbortController();
    const running = harness.run(code, { signal: controller.signal });
    await Bun.sleep(100);
    const cancelledAt = performance.now();
    controller.abort();
    const outcome = failed(await running);
    // This takes milliseconds; the test only checks that it does not wait for something to end by itself.
    expect(performance.now() - cancelledAt).toBeLessThan(9_000);
    expect(outcome.reason).toBe("cancelled");
  });

  test("running tool calls", async () => {
    const controller = new AbortController();
    const called = Promise.withResolvers<void>();
    const { promise: cancelled, resolve } = Promise.withResolvers<string>();
    const call = async ({ name }: BindingCall, { signal }: BindingContext): Promise<never> => {
      called.resolve();
      return new Promise((_resolve, reject) =>
        signal.addEventListener("abort", () => {
          resolve(name);
          reject(new Error("aborted"));
        }),
      );
    };
    const running = harness.run("await test.echo()", { signal: controller.signal, call });
    await called.promise;
    controller.abort();
    expect(await cancelled).toBe("echo");
    expect(failed(await running).reason).toBe("cancelled");
  });
});
