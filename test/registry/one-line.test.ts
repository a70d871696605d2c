/** JSON Schema → TypeScript: the texts, and that the compiler agrees about which values they accept. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { typeText } from "../../src/registry/types/one-line.ts";
import { cases } from "../support/schema-cases.ts";
import { typeErrors } from "../support/typescript.ts";

// The compiler is a program of its own.
setDefaultTimeout(30_000);

test.each(Object.entries(cases))("%s", (_, { schema, type }) => {
  expect(typeText(schema)).toBe(type);
});

test.each([[null], [5], ["x"], [[]]])("%j is no schema", (schema) => {
  expect(typeText(schema)).toBe("unknown");
});

describe("the compiler", () => {
  test("accepts the valid values, and the invalid ones it does not", () => {
    const lines = Object.values(cases).flatMap(({ type, valid = [], invalid = [] }, index) => [
      `type T${index} = ${type};`,
      ...valid.map((value) => `{ const v: T${index} = ${JSON.stringify(value)}; }`),
      ...invalid.flatMap((value) => ["// @ts-expect-error", `{ const v: T${index} = ${JSON.stringify(value)}; }`]),
    ]);
    expect(typeErrors(lines.join("\n"))).toEqual([]);
  });
});
