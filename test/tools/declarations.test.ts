/** JSON Schema to declarations: the compiler accepts what the schema accepts. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { Ajv } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import { declareType, typeName } from "../../src/tools/types/declarations.ts";
import { typeText } from "../../src/tools/types/one-line.ts";
import { cases } from "../support/schema-cases.ts";
import { typeErrors } from "../support/typescript.ts";

// The compiler runs as a separate program.
setDefaultTimeout(60_000);

const declared = (schema: unknown, name = "T") => declareType(schema, name, new Set());

describe("the compiler", () => {
  test("accepts the valid values of each declared type, and no invalid ones", () => {
    const lines = Object.values(cases).map(({ schema, valid = [], invalid = [], invalidDeep = [] }, index) => {
      const values = [
        ...valid.map((value) => `{ const v: N${index}.T = ${JSON.stringify(value)}; }`),
        ...[...invalid, ...invalidDeep].flatMap((value) => [
          "// @ts-expect-error",
          `{ const v: N${index}.T = ${JSON.stringify(value)}; }`,
        ]),
      ];
      return `namespace N${index} {\n${declared(schema)}}\n${values.join("\n")}`;
    });
    expect(typeErrors(lines.join("\n"))).toEqual([]);
    const tried = Object.values(cases).filter(({ valid, invalid }) => valid?.length && invalid?.length);
    expect(tried.length).toBeGreaterThanOrEqual(60);
  });

  test("agrees with the schemas about the values", () => {
    const wrong: unknown[] = [];
    for (const [name, { schema, valid = [], invalid = [], invalidDeep = [] }] of Object.entries(cases)) {
      if (valid.length + invalid.length === 0) continue;
      const isDraft7 = /"definitions"|"additionalItems"|draft 7/.test(JSON.stringify(schema) + name);
      const ajv = new (isDraft7 ? Ajv : Ajv2020)({ strict: false, validateSchema: false });
      const validate = ajv.compile(schema as object);
      for (const value of valid) if (!validate(value)) wrong.push([name, value, "is not valid"]);
      for (const value of [...invalid, ...invalidDeep]) if (validate(value)) wrong.push([name, value, "is valid"]);
    }
    expect(wrong).toEqual([]);
  });
});

test.each([
  ["create-issue", "CreateIssue"],
  ["get_sum", "GetSum"],
  ["2fa", "T2fa"],
  ["日本", "日本"],
  ["", "T"],
  ["a/b c.d", "ABCD"],
])("a type for %s is called %s", (name, expected) => expect(typeName(name)).toBe(expected));

describe("a schema whose size doubles at each level", () => {
  const chain = (join: (reference: object) => object) => ({
    $ref: "#/$defs/d0",
    $defs: Object.fromEntries(
      Array.from({ length: 200 }, (_, at) => [
        `d${at}`,
        at === 199 ? { type: "string" } : join({ $ref: `#/$defs/d${at + 1}` }),
      ]),
    ),
  });
  test.each<[string, (reference: object) => object]>([
    ["allOf", (next) => ({ allOf: [next, next] })],
    ["anyOf", (next) => ({ anyOf: [next, next] })],
    ["both", (next) => ({ allOf: [next, { anyOf: [next, next] }] })],
    ["properties", (next) => ({ type: "object", properties: { a: next, b: next } })],
    ["tuples", (next) => ({ type: "array", prefixItems: [next, next] })],
    ["a map", (next) => ({ type: "object", properties: { a: next }, additionalProperties: next })],
  ])("has a type of bounded size with %s", (_, join) => {
    const schema = chain(join);
    expect(typeText(schema).length).toBeLessThan(3_100);
    expect(declared(schema).length).toBeLessThan(25_000);
    expect(typeErrors(declared(schema))).toEqual([]);
  });
});
