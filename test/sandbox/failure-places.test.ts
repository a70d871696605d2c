/** The place of a failure: the column of the expression that failed, whatever stands around it and before it. */
import { afterAll, describe, expect, test } from "bun:test";
import { Sandbox } from "../../src/sandbox/sandbox.ts";
import { answer, bindingsWith } from "./harness.ts";
import { someLimits } from "./some-limits.ts";

const sandbox = new Sandbox();
afterAll(() => sandbox[Symbol.dispose]());

/** Failing expressions. The mark stands before the place that the failure has to have. */
const failing: [string, string][] = [
  ["a call of a tool", "await test.fail§({ b: 2 })"],
  ["a property of undefined", "u.x§.y"],
  ["a property of a result", "(await test.echo({ q: 1 })).x§.y"],
  ["a method that does not exist", "u.f§()"],
  ["a method of a result", "(await test.echo({})).map§((x) => x)"],
  ["an error of its own", "(() => { throw new Error§('no'); })()"],
  ["a name that does not exist", "§nope.x"],
  ["a spread", "[...§u]"],
  ["a list pattern", "(() => { const [q] = §u; })()"],
  ["an object pattern in another", "(() => { const { b: { c } } = §u; })()"],
  ["a parameter", "[u].map((§[q]) => q)"],
  ["a loop", "await (async () => { for (const x of §u) await test.echo({ x }); })()"],
  ["a failure in a loop after a try", "await (async () => { try { await test.fail({}); } catch {} return u.b§.c; })()"],
];

const before: [string, string][] = [
  ["nothing", ""],
  [
    "a try with awaits",
    "let a = null;\ntry { a = await test.echo({ n: 1 }); a = await test.fail({ a }); } catch (e) { a = String(e); }\n",
  ],
  [
    "types",
    "type T = { a: number };\nconst v: T = (await test.echo({ a: 1 })) as T, w = <X,>(x: X): X => x;\nw<number>(v.a);\n",
  ],
  [
    "a loop with finally",
    "for (const n of [1, 2]) { try { await test.fail({ n }); } catch {} finally { await test.echo({ n }); } }\n",
  ],
];

const lines = [
  "const r = #;",
  "const r = [await test.echo({ a: 1 }), #, await test.echo({ a: 2 })];",
  "const all = await Promise.all([test.echo({ a: 1 }), (async () => #)(), test.echo({ a: 3 })]);",
  "try { await test.fail({}); } catch (e) { const m = e.message; await test.echo({ m }); #; await test.echo({}); }",
  "const s = `äöü 漢字 😀😀 ${await test.echo({})} and ${#}`;",
  "const [first] = [await test.echo({})], { second } = await test.echo({ second: # });",
];

describe.each(before)("after %s, the column is exact for", (_, earlier) => {
  test.each(failing)("%s", async (_name, expression) => {
    for (const line of lines) {
      const marked = `const u = { a: 5 };\n${earlier}${line.replace("#", () => expression)}\nreturn await test.echo({ a: 1 });`;
      const lead = marked.slice(0, marked.indexOf("§")).split("\n");
      const source = marked.replace("§", "");
      const bindings = bindingsWith(answer);
      const mounts = { workspace: "/nowhere", registry: "/nowhere" };
      const outcome = await sandbox.run(source, { bindings, limits: someLimits(), mounts, check: "off" });
      const { line: at, column } = outcome.ok ? { line: 0, column: 0 } : outcome.error;
      expect({ line, at, column }).toEqual({ line, at: lead.length, column: (lead.at(-1)?.length ?? 0) + 1 });
    }
  });
});

test("a value that another line takes apart is not named as the one that failed", async () => {
  const source = `
const [one, two] = [await test.echo({ a: 1 }), await test.echo({ b: 1 })];
const list = await test.echo({ a: 5 });
const out = await (async () => { for (const x of list) await test.echo({ x }); })();`;
  const mounts = { workspace: "/nowhere", registry: "/nowhere" };
  const outcome = await sandbox.run(source, {
    bindings: bindingsWith(answer),
    limits: someLimits(),
    mounts,
    check: "off",
  });
  expect(outcome).toMatchObject({
    ok: false,
    error: { line: 4, message: expect.stringContaining("list is not iterable") },
  });
});
