/** Observers of an execution get every call: its line, its arguments, and its end. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { textOf } from "../../src/sandbox/binding-value.ts";
import type { CallListener } from "../../src/sandbox/call-events.ts";
import { Harness, type HarnessOptions } from "./harness.ts";

setDefaultTimeout(60_000);

let harness: Harness;
beforeAll(() => {
  harness = new Harness();
});
afterAll(() => harness[Symbol.dispose]());

/** One line per event, in order. */
async function seen(source: string, options: HarnessOptions = {}): Promise<string[]> {
  const lines: string[] = [];
  const listener: CallListener = (event) => {
    const { namespace, group, name, line, args } = event.request;
    const call = `${line}: ${namespace}.${group}.${name}`;
    if (event.type === "called") lines.push(`${call} ${args}`);
    else lines.push(`${call} → ${event.type === "returned" ? textOf(event.value) : event.type}`);
  };
  await harness.run(source, { ...options, listener });
  return lines;
}

test("calls are observed with their lines, in functions, callbacks and after an await", async () => {
  const code = [
    "const first = await test.echo({ a: 1 });",
    "async function again(n: number): Promise<unknown> {",
    "  return await test.echo(",
    "    { n },",
    "  );",
    "}",
    "await again(2);",
    "for (const n of [3]) await servers['test'].with_dash({ n }).catch(() => {});",
    "return [4].map((n) => callTool('test', 'text', { n }))[0];",
  ].join("\n");
  expect(await seen(code)).toEqual([
    '1: test.tools.echo {"a":1}',
    '1: test.tools.echo → {"a":1}',
    '3: test.tools.echo {"n":2}',
    '3: test.tools.echo → {"n":2}',
    '8: test.tools.with-dash {"n":3}',
    "8: test.tools.with-dash → failed",
    '9: test.tools.text {"n":4}',
    "9: test.tools.text → plain text",
  ]);
});

test("concurrent calls are observed, each with its own line", async () => {
  const code = "await Promise.all([\n  test.slow({ ms: 20 }),\n  test.echo({}),\n  test.echo.raw({ raw: true }),\n]);";
  expect((await seen(code)).sort()).toEqual([
    '2: test.tools.slow {"ms":20}',
    '2: test.tools.slow → {"ms":20}',
    "3: test.tools.echo {}",
    "3: test.tools.echo → {}",
    '4: test.tools.echo {"raw":true}',
    '4: test.tools.echo → {"raw":true}',
  ]);
});

test("calls that end with the execution are observed", async () => {
  expect(await seen("test.slow({ ms: 60_000 }); throw new Error('x')")).toEqual([
    '1: test.tools.slow {"ms":60000}',
    "1: test.tools.slow → cancelled",
  ]);
});
