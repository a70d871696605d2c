/** Every way for code to end has its own outcome, and the next execution works. */
import { afterAll, afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { Harness, megabyte } from "./harness.ts";

setDefaultTimeout(60_000);

const harness = new Harness();
afterAll(() => harness[Symbol.dispose]());
afterEach(async () => {
  expect(await harness.value("return 'still works'")).toBe("still works");
});

describe("a program has the value of", () => {
  const cases: [string, string, unknown][] = [
    ["return", "return 1", 1],
    ["a final expression", "const a = 20;\na + 22", 42],
    ["an awaited final expression", "test.echo({ a: 1 })", { a: 1 }],
    ["nothing", "const a = 1;", undefined],
    ["undefined", "return undefined", undefined],
    ["null", "return null", null],
    ["an object literal in parentheses", "({ a: 1 })", { a: 1 }],
    ["NaN and infinity", "[NaN, -Infinity, -0]", ["NaN", "-Infinity", 0]],
    ["a BigInt", "10n ** 20n", "100000000000000000000n"],
    ["a date", "new Date(0)", "1970-01-01T00:00:00.000Z"],
    ["a map and a set", "({ m: new Map([['a', 1]]), s: new Set([1, 2]) })", { m: { a: 1 }, s: [1, 2] }],
    ["a map with other keys", "new Map([[1, 2]])", [[1, 2]]],
    ["an error as a value", "new TypeError('t')", "TypeError: t"],
    ["a function", "function f() {}\nreturn f", "[Function: f]"],
    ["a cycle", "const a = { b: {} }; a.b.a = a; return a", { b: { a: "[Circular]" } }],
    ["the same object twice, which is not a cycle", "const o = { x: 1 }; return [o, o]", [{ x: 1 }, { x: 1 }]],
    ["text of a tool", "return test.text()", "plain text"],
    [
      "types, enums, parameter properties",
      "enum E { A = 'a' }\nclass C { constructor(public x: number) {} }\nreturn [E.A, new C(3).x as number]",
      ["a", 3],
    ],
    [
      "generics that could be comparisons",
      "const id = (x: unknown) => x;\nfunction f<T>(x: T) { return x }\nreturn [f<string>('a'), new Map<string, number>().size]",
      ["a", 0],
    ],
    ["plain JavaScript", "const o = { a: { b: 1 } };\no?.a?.b ?? 2", 1],
    ["a long text", "return 'é'.repeat(300_000).length", 300_000],
    ["falsy values, which are not failures", "return false", false],
  ];
  test.each(cases)("%s", async (_, code, expected) => {
    const outcome = await harness.run(code);
    expect(outcome).toMatchObject({ ok: true });
    expect(outcome.ok && outcome.value).toEqual(expected as never);
  });
});

describe("a program fails", () => {
  const threw: [string, string, object][] = [
    ["a text", 'throw "x"', { name: "Thrown", message: "x" }],
    ["undefined", "throw undefined", { name: "Thrown", message: "undefined" }],
    ["null", "throw null", { name: "Thrown", message: "null" }],
    ["an empty error", 'throw new Error("")', { name: "Error", message: "", line: 1 }],
    ["a plain object", "throw { a: 1 }", { name: "Thrown", message: '{"a":1}' }],
    [
      "an object that cannot be shown",
      "throw { toJSON() { throw 1 } }",
      { message: expect.stringContaining("cannot be shown") },
    ],
    ["a type error", "const a: any = null;\na.b", { name: "TypeError", line: 2, source: "a.b" }],
    [
      "an error of its own class",
      "class MyError extends Error { name = 'MyError' }\nthrow new MyError('mine')",
      { name: "MyError", message: "mine", line: 2 },
    ],
    [
      "an unhandled rejection",
      "Promise.reject(new Error('boom'));\nreturn 1",
      { message: "boom", line: 1, hint: expect.stringContaining("await") },
    ],
    [
      "an async function that is not awaited",
      "async function f() { throw new Error('lost') }\nf();\nreturn 1",
      { message: "lost", line: 1 },
    ],
    [
      "a failing call that is not awaited",
      "test.fail({});\nreturn 1",
      { message: "fail says no", code: "TOOL_FAILED" },
    ],
    ["a failing call in a variable", "const p = test.fail({});\nreturn 1", { message: "fail says no" }],
    [
      "forEach with an async callback",
      "[1].forEach(async () => { await test.echo({}); throw new Error('in a loop') });\nreturn 1",
      { message: "in a loop" },
    ],
    [
      "a throwing timer",
      "setTimeout(() => { throw new Error('late') }, 1);\nawait new Promise((r) => setTimeout(r, 30))",
      { message: "late" },
    ],
    [
      "a failing call",
      "const a = 1;\nawait test.fail({ a })",
      {
        name: "ToolError",
        line: 2,
        source: "await test.fail({ a })",
        message: "fail says no",
        code: "TOOL_FAILED",
        hint: "ask differently",
      },
    ],
    ["a promise that never settles", "await new Promise(() => {})", { code: "NEVER_SETTLES" }],
    ["arguments that are not an object", "await test.echo([1])", { code: "INVALID_ARGUMENTS" }],
    ["arguments with a cycle", "const a: any = {}; a.a = a; await test.echo(a)", { code: "INVALID_ARGUMENTS" }],
    [
      "a server that does not exist",
      "await callTool('nope', 'x', {})",
      { code: "SERVER_NOT_FOUND", hint: expect.stringContaining("my-server") },
    ],
  ];
  test.each(threw)("by throwing %s", async (_, code, error) => {
    const outcome = await harness.run(code);
    expect(outcome).toMatchObject({ ok: false, reason: "threw", error });
  });

  const limits: [string, string, string][] = [
    ["an endless loop", "timeout", "while (true) {}"],
    [
      "endless microtasks",
      "timeout",
      "const f = () => { Promise.resolve().then(f) }; f(); await new Promise((r) => setTimeout(r, 1))",
    ],
    ["an endless loop in a callback of a call", "timeout", "await test.echo({}); for (;;);"],
    ["a wait that is too long", "timeout", "await new Promise((r) => setTimeout(r, 60_000))"],
    ["a call that is too slow", "timeout", "await test.slow({ ms: 60_000 })"],
    ["a catastrophic regular expression", "timeout", "/^(a+)+$/.test('a'.repeat(50) + 'b')"],
    ["a native loop over nothing", "timeout", "Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)"],
    ["a native search that is quadratic", "timeout", "'a'.repeat(1e7).indexOf('a'.repeat(5e6) + 'b')"],
    ["a loop that catches everything", "timeout", "for (;;) { try { for (;;); } catch {} }"],
    ["objects without end", "memory", "const a: unknown[] = []; for (;;) a.push({ a })"],
    ["typed arrays without end", "memory", "const a: unknown[] = []; for (;;) a.push(new Uint8Array(1e6).fill(1))"],
    ["a text that doubles", "memory", "let s = 'x'; for (;;) s += s"],
    ["a map without end", "memory", "const m = new Map(); for (let i = 0; ; i++) m.set(i, {})"],
    ["a huge array", "memory", "new Array(5e7).fill(0)"],
    ["endless recursion", "stack", "function f(): number { return f() + 1 }\nf()"],
    ["deep JSON", "stack", "JSON.parse('['.repeat(200_000))"],
    ["recursion through toString", "stack", "const a: any = {}; a.toString = () => '' + a; '' + a"],
  ];
  test.each(limits)("with the limit of %s: %s", async (_, reason, code) => {
    const outcome = await harness.run(code, { timeoutMs: reason === "timeout" ? 500 : 10_000 });
    expect(outcome).toMatchObject({ ok: false, reason });
    expect(!outcome.ok && outcome.error.message).not.toBe("");
    expect(!outcome.ok && outcome.error.hint).toBeTruthy();
  });

  test("with an explanation of an unknown tool, if the check is off", async () => {
    harness.check = "off";
    expect(await harness.run("\nawait test.eccho({})")).toMatchObject({
      reason: "threw",
      error: { name: "TypeError", line: 2, hint: 'test has no tool "eccho". Did you mean echo?' },
    });
    harness.check = "error";
  });

  test("with the place of a syntax error, before anything runs", async () => {
    const outcome = await harness.run("await test.echo({});\nconst x: = 1;");
    expect(outcome).toMatchObject({
      ok: false,
      reason: "check",
      error: { name: "SyntaxError", line: 2, column: 10, source: "const x: = 1;" },
      receipt: { calls: 0 },
    });
  });

  test("if it is cancelled, together with its calls", async () => {
    const controller = new AbortController();
    const aborted = Promise.withResolvers<void>();
    const outcome = harness.run("await test.slow({ ms: 60_000 })", {
      signal: controller.signal,
      call: (_, { signal }) => {
        signal.addEventListener("abort", () => aborted.resolve());
        controller.abort();
        return new Promise(() => {});
      },
    });
    expect(await outcome).toMatchObject({ ok: false, reason: "cancelled" });
    await aborted.promise;
  });

  test("with the logs before the failure", async () => {
    const outcome = await harness.run("console.log('one', { a: 1 });\nconsole.warn('two');\nthrow new Error('three')");
    expect(outcome.logs).toEqual([
      { level: "log", text: "one { a: 1 }" },
      { level: "warn", text: "two" },
    ]);
    const stopped = await harness.run("console.log('before');\nfor (;;);", { timeoutMs: 2_000 });
    expect(stopped.logs).toEqual([{ level: "log", text: "before" }]);
  });

  test("with a stack that has only lines of the original", async () => {
    const code =
      "interface A { a: number }\nfunction inner(a: A) {\n  return (a as any).b.c;\n}\nfunction outer() { return inner({ a: 1 }) }\nouter();";
    const outcome = await harness.run(code);
    expect(!outcome.ok && outcome.error.stack).toMatchInlineSnapshot(`
      "    at inner (main.ts:3:22)
          at outer (main.ts:5:20)
          at the code (main.ts:6:6)"
    `);
    expect(JSON.stringify(outcome)).not.toContain("s3cret");
  });
});

describe("an execution", () => {
  test("makes concurrent calls", async () => {
    let running = 0;
    const all = Promise.withResolvers<void>();
    // No call is answered before all have arrived.
    const call = async () => {
      running += 1;
      if (running === 4) all.resolve();
      await all.promise;
      return { json: "1" };
    };
    const code = "return (await Promise.all([1, 2, 3, 4].map((i) => test.slow({ ms: 1, i })))).length";
    expect(await harness.value(code, { call })).toBe(4);
  });

  test("waits for promises that are not awaited, except for losers of a race", async () => {
    const logs = (await harness.run("(async () => { await test.slow({ ms: 30 }); console.log('late') })();\nreturn 1"))
      .logs;
    expect(logs).toEqual([{ level: "log", text: "late" }]);
    const value = await harness.value(
      "return Promise.race([test.slow({ ms: 600_000 }), new Promise((r) => setTimeout(r, 10, 'first'))])",
    );
    expect(value).toBe("first");
  });

  test.each([
    ["a timer", "setTimeout(() => console.log('x'), 20)"],
    [
      "a timer that is the last expression",
      "setTimeout(async () => { await test.slow({ ms: 5 }); console.log('x') }, 5)",
    ],
    [
      "timers that set each other",
      "let n = 0; const next = () => { if (++n === 3) console.log('x'); else setTimeout(next, 5) }; next()",
    ],
    [
      "an interval that is cleared",
      "let n = 0; const t = setInterval(() => { if (++n === 3) { clearInterval(t); console.log('x') } }, 2)",
    ],
    ["setImmediate", "setImmediate(() => console.log('x'))"],
    [
      "a call whose promise is not used",
      "const done = (async () => { await test.slow({ ms: 20 }); console.log('x') })()",
    ],
    [
      "async listeners",
      "const e = new (require('events'))(); e.on('a', async () => { await test.slow({ ms: 20 }); console.log('x') }); e.emit('a')",
    ],
  ])("waits for everything if the program has no value: %s", async (_, code) => {
    expect((await harness.run(code)).logs).toEqual([{ level: "log", text: "x" }]);
  });

  test("fails if one of them fails", async () => {
    for (const code of [
      "setTimeout(() => { throw new Error('late') }, 5)",
      "const p = (async () => { await null; throw new Error('late') })();",
      "const e = new (require('events'))(); e.on('a', async () => { throw new Error('late') }); e.emit('a')",
    ]) {
      expect(await harness.run(code)).toMatchObject({ ok: false, reason: "threw", error: { message: "late" } });
    }
  });

  test.each([
    [
      "does not wait for timers if the program returns a value",
      "setTimeout(() => console.log('x'), 600_000); return 'done'",
    ],
    [
      "does not wait for timers of promises if the program returns a value",
      "await Promise.race([1, new Promise((_, no) => setTimeout(() => no(new Error('late')), 600_000))])",
    ],
    ["does not wait for timers that are unreferenced", "setInterval(() => {}, 1_000).unref()"],
  ])("%s", async (_, code) => {
    // Code that waits ends with its time limit.
    expect(await harness.run(code)).toMatchObject({ ok: true, logs: [] });
  });

  test("with an endless interval ends with its time limit, and says so", async () => {
    const { ok, logs } = await harness.run("console.log('a'); setInterval(() => {}, 50)", { timeoutMs: 2_000 });
    expect(ok).toBe(true);
    expect(logs).toEqual([
      { level: "log", text: "a" },
      { level: "warn", text: expect.stringContaining("1 timer was still set when the time ran out") },
    ]);
  });

  test("joins partial writes to one line", async () => {
    const code = `for (let n = 0; n < 3; n++) { process.stdout.write("."); await test.slow({ ms: 1 }) }
      process.stderr.write("e"); process.stdout.write(" done\\nnext"); await null; console.log(" line"); process.stdout.write("last");`;
    expect((await harness.run(code)).logs).toEqual([
      { level: "log", text: "... done" },
      { level: "error", text: "e" },
      { level: "log", text: "next line" },
      { level: "log", text: "last" },
    ]);
  });

  test("makes the same call for every spelling of a tool's name", async () => {
    const seen: string[] = [];
    await harness.value(
      `const bare = test.echo;
      await test.echo({ n: 1 }); await test["with-dash"]({ n: 2 }); await test.with_dash({ n: 3 });
      await servers["test"].echo({ n: 4 }); await servers["my-server"].echo({ n: 5 }); await callTool("test", "echo", { n: 6 });
      await __mcp_call("test__echo", { n: 7 }); await bare({ n: 8 }); await test.echo.raw({ n: 9 }); await test.constructor({ n: 10 });
      await open.anything_goes({ n: 11 }); await test.echo(undefined);`,
      {
        call: async ({ namespace, name, args, raw }) => {
          seen.push(`${namespace}.${name} ${JSON.stringify(args)}${raw ? " raw" : ""}`);
          return { json: "null" };
        },
      },
    );
    expect(seen).toEqual([
      'test.echo {"n":1}',
      'test.with-dash {"n":2}',
      'test.with-dash {"n":3}',
      'test.echo {"n":4}',
      'my-server.echo {"n":5}',
      'test.echo {"n":6}',
      'test.echo {"n":7}',
      'test.echo {"n":8}',
      'test.echo {"n":9} raw',
      'test.constructor {"n":10}',
      'open.anything_goes {"n":11}',
      "test.echo {}",
    ]);
  });

  test("has undefined for unknown names, and can list known ones", async () => {
    expect(await harness.value("return [typeof test.nope, 'nope' in test, 'echo' in test, Object.keys(test)]")).toEqual(
      ["undefined", false, true, ["echo", "text", "slow", "fail", "with_dash", "constructor"]],
    );
  });

  test("shares nothing with others, concurrent or later", async () => {
    await harness
      .value("globalThis.left = 1; Array.prototype.map = () => 'broken'; Object.prototype.polluted = 1; test.extra = 1")
      .catch(() => {});
    expect(await harness.value("return [typeof left, [1].map((x) => x), ({}).polluted]")).toEqual([
      "undefined",
      [1],
      null,
    ]);
    const values = await Promise.all(
      [1, 2, 3, 4, 5].map((n) => harness.value(`globalThis.n = ${n}; await test.slow({ ms: 20 }); return n`)),
    );
    expect(values).toEqual([1, 2, 3, 4, 5]);
  });

  test("cannot reach the host by usual names", async () => {
    const names = "Bun Deno WebAssembly postMessage __host __guest importScripts navigator".split(" ");
    const value = await harness.value(`return [${names.map((name) => `typeof ${name}`).join(", ")}]`);
    expect(value).toEqual(names.map(() => "undefined"));
  });

  test("has an outcome for code of any depth, even at the limit of parsing", async () => {
    const shapes = [(n: number) => `0${"+1".repeat(n)}`, (n: number) => `a${".b".repeat(n)}`];
    for (let depth = 3_000; depth <= 8_000; depth += 1_000) {
      for (const shape of shapes) {
        const outcome = await harness.run(`let a: any = {};\nlet b = ${shape(depth)};\na.b.c`);
        expect(outcome.ok ? "value" : outcome.reason).toMatch(/^(?:threw|check)$/);
      }
    }
  });

  test("has a receipt with calls, failures and characters", async () => {
    const outcome = await harness.run(
      "await test.echo({ a: 'xxxxxxxxxx' }); await test.echo({}); await test.fail({}).catch(() => {}); return 'ok'",
    );
    expect(outcome.logs).toEqual([]);
    expect(outcome.receipt).toMatchObject({
      calls: 3,
      failures: 1,
      charsIn: 20,
      charsOut: "ok".length,
      tools: {
        "test.echo": { calls: 2, failures: 0, resultChars: 20 },
        "test.fail": { calls: 1, failures: 1, hiddenFailure: "fail says no" },
      },
    });
  });

  test("has the configured memory limit", async () => {
    const fill = (mb: number) => `return new Uint8Array(${mb} * 1048576).fill(1).length`;
    expect(await harness.value(fill(50), { memoryBytes: 128 * megabyte })).toBe(50 * megabyte);
    expect(await harness.run(fill(50), { memoryBytes: 32 * megabyte })).toMatchObject({ ok: false, reason: "memory" });
  });
});
