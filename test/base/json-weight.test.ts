/** The cost of a message is counted without parsing it. */
import { expect, test } from "bun:test";
import { requestIdIn, tooHeavy, weigh } from "../../src/base/json-weight.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

test.each([
  ['{"a":1,"b":{"c":"d:e,f"}}', { keys: 3, values: 4, depth: 2, digits: 1 }],
  ['["\\"{[:,", 12.345e10, -7]', { keys: 0, values: 4, depth: 1, digits: 3 }],
  ['{"\\\\":1,"12345678":"99999999"}', { keys: 2, values: 3, depth: 1, digits: 1 }],
  ["[[[[", { keys: 0, values: 5, depth: 4, digits: 0 }],
  ['"no end', { keys: 0, values: 1, depth: 0, digits: 0 }],
  ["", { keys: 0, values: 1, depth: 0, digits: 0 }],
])("the weight of %s", (text, weight) => {
  expect(weigh(bytes(text))).toMatchObject(weight);
});

test("texts may be large and have any characters, and everything else is bounded", () => {
  expect(tooHeavy(bytes(JSON.stringify({ code: '{[":,1'.repeat(500_000) })))).toBeUndefined();
  const key = (_: unknown, number: number) => [`k${number}`, 1];
  expect(tooHeavy(bytes(JSON.stringify(Object.fromEntries(Array.from({ length: 20_000 }, key)))))).toBeUndefined();
  expect(tooHeavy(bytes(JSON.stringify(Object.fromEntries(Array.from({ length: 20_001 }, key)))))).toBe(
    "The message has more than 20000 keys. Send less at once, or large data as one text",
  );
  expect(tooHeavy(bytes("[".repeat(200)))).toBeUndefined();
  expect(tooHeavy(bytes("[".repeat(201)))).toContain("more than 200 levels");
  expect(tooHeavy(bytes(`[${"1,".repeat(100_000)}1]`))).toContain("more than 100000 values");
  expect(tooHeavy(bytes("1".repeat(1_000)))).toBeUndefined();
  expect(tooHeavy(bytes(`-${"1".repeat(1_001)}`))).toContain("more than 1000 digits");
});

test("the id of a message that is not parsed is found at its ends only", () => {
  expect(requestIdIn(bytes('{"jsonrpc":"2.0","id":12,"params":{"id":3}}'))).toBe(12);
  expect(requestIdIn(bytes('{"params":{"id":3},"id":"x"}'))).toBe("x");
  expect(requestIdIn(bytes('{"params":{"id":3}}'))).toBeUndefined();
});
