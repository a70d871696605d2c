/** JSON Schema to TypeScript in one line, and the values that the compiler accepts for it. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { typeText } from "../../src/tools/types/one-line.ts";
import { cases } from "../support/schema-cases.ts";
import { typeErrors } from "../support/typescript.ts";

// The compiler runs as a separate program.
setDefaultTimeout(60_000);

test.each(Object.entries(cases))("typeText writes %s", (_, { schema, type }) => {
  expect(typeText(schema)).toBe(type);
});

test.each([[null], [5], ["x"], [[]]])("typeText writes unknown for %j", (schema) => {
  expect(typeText(schema)).toBe("unknown");
});

describe("the compiler", () => {
  test("accepts the valid values, and no invalid ones", () => {
    const lines = Object.values(cases).flatMap(({ type, valid = [], invalid = [] }, index) => [
      `type T${index} = ${type};`,
      ...valid.map((value) => `{ const v: T${index} = ${JSON.stringify(value)}; }`),
      ...invalid.flatMap((value) => ["// @ts-expect-error", `{ const v: T${index} = ${JSON.stringify(value)}; }`]),
    ]);
    expect(typeErrors(lines.join("\n"))).toEqual([]);
  });
});
