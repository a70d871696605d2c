/** Returned values that JSON cannot represent. */
import { afterAll, expect, test } from "bun:test";
import { Harness } from "./harness.ts";

const harness = new Harness();
afterAll(() => harness[Symbol.dispose]());

test.each<[string, unknown]>([
  ["{ forgotten: test.echo({}) }", { forgotten: {} }],
  ["new Map([['a', 1]]).keys()", ["a"]],
  ["{ entries: new Set([1]).entries(), found: 'a1b2'.matchAll(/\\d/g) }", { entries: [[1, 1]], found: [["1"], ["2"]] }],
  ["(function* () { for (;;) yield 1 })()", {}],
  ["{ at: new Date(NaN), ok: new Date(0) }", { at: "Invalid Date", ok: "1970-01-01T00:00:00.000Z" }],
  ["new URL('http://a/b?c=d')", "http://a/b?c=d"],
  ["new URLSearchParams({ a: 'b c' })", "a=b+c"],
  [
    "[new Uint8Array([1, 2]), new Float32Array([0.5]).buffer]",
    [
      [1, 2],
      [0, 0, 0, 63],
    ],
  ],
  ["new DOMException('gone', 'AbortError')", "AbortError: gone"],
])("returning %s gives JSON", async (expression, expected) => {
  expect(await harness.value(`return ${expression}`)).toEqual(expected);
});
