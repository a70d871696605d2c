/** Arguments against schemas of both drafts: problems are described in words, and an invalid schema refuses nothing. */
import { describe, expect, test } from "bun:test";
import { argumentProblems } from "../../src/tools/arguments/argument-problems.ts";

const order = {
  type: "object",
  properties: {
    order_id: { type: "string" },
    status: { enum: ["paid", "open"] },
    limit: { type: "integer", minimum: 1, maximum: 10 },
    lines: { type: "array", items: { type: "object", properties: { sku: { type: "string" } }, required: ["sku"] } },
    when: { type: "string", format: "date" },
  },
  required: ["order_id"],
  additionalProperties: false,
};

describe("argument problems", () => {
  const cases: [string, object, string[]][] = [
    ["none", { order_id: "x", when: "no date, and not our business" }, []],
    ["a missing argument", {}, ['the argument "order_id" is missing']],
    [
      "an unknown argument",
      { order_id: "x", orderId: "y" },
      ['there is no argument "orderId". Did you mean order_id?'],
    ],
    [
      "an unknown argument without a similar name",
      { order_id: "x", zzz: 1 },
      ['there is no argument "zzz". It takes: order_id, status, limit, lines, when'],
    ],
    [
      "a value outside the choices",
      { order_id: "x", status: "Paid" },
      ['"status" must be one of "paid", "open", got "Paid". Did you mean "paid"?'],
    ],
    ["another type", { order_id: 5 }, ['"order_id" must be string, got 5']],
    ["null", { order_id: null }, ['"order_id" must be string, got null']],
    ["a number out of range", { order_id: "x", limit: 11 }, ['"limit" must be <= 10']],
    ["deep inside", { order_id: "x", lines: [{ sku: "a" }, {}] }, ['the argument "sku" is missing in "lines.1"']],
    [
      "several",
      { status: 1, limit: "2" },
      [
        'the argument "order_id" is missing',
        '"status" must be one of "paid", "open", got 1.',
        '"limit" must be integer, got "2"',
      ],
    ],
  ];
  test.each(cases)("are found: %s", async (_, args, problems) => {
    expect(await argumentProblems(order, args as Record<string, unknown>)).toEqual(problems);
  });

  test("are at most five", async () => {
    const properties = Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`p${i}`, { type: "string" }]));
    const problems = await argumentProblems({ type: "object", properties, required: Object.keys(properties) }, {});
    expect(problems).toHaveLength(5);
  });
});

describe("a schema", () => {
  const draft07 = {
    $schema: "http://json-schema.org/draft-07/schema#",
    type: "object",
    definitions: { id: { type: "string" } },
    properties: {
      pair: { type: "array", items: [{ type: "string" }, { type: "number" }], additionalItems: false },
      id: { $ref: "#/definitions/id" },
    },
  };
  const draft2020 = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    $defs: { id: { type: "string" } },
    properties: {
      pair: { type: "array", prefixItems: [{ type: "string" }, { type: "number" }], items: false },
      id: { $ref: "#/$defs/id" },
    },
  };
  test.each([
    ["draft-07", draft07],
    ["2020-12", draft2020],
    ["draft-07 without saying so", { ...draft07, $schema: undefined }],
    ["an unknown dialect", { ...draft2020, $schema: "https://example.com/own" }],
  ])("supports tuples and references in %s", async (_, schema) => {
    expect(await argumentProblems(schema, { pair: ["a", 1], id: "x" })).toEqual([]);
    expect(await argumentProblems(schema, { pair: ["a", "b"], id: 1 })).toEqual([
      '"pair.1" must be number, got "b"',
      '"id" must be string, got 1',
    ]);
  });

  test("may have the same id on two servers", async () => {
    for (const type of ["string", "number"]) {
      expect(
        await argumentProblems({ $id: "same", type: "object", properties: { a: { type } } }, { a: true }),
      ).toHaveLength(1);
    }
  });

  test("without a constraint for unknown types still checks the other arguments", async () => {
    const properties = {
      a: { type: "any" },
      b: { type: ["string", "int"] },
      type: { type: "str", enum: ["x"] },
      list: { type: "array", items: { type: "float" } },
      n: { type: "number" },
    };
    const schema = { type: "Object", properties, required: ["a"], $defs: { type: { type: "date" } } };
    expect(await argumentProblems(schema, { a: 1, b: 2, type: "x", list: ["1.5", 2], n: 3 })).toEqual([]);
    expect(await argumentProblems(schema, { b: {}, type: "y", list: {}, n: "3" })).toEqual([
      'the argument "a" is missing',
      '"type" must be one of "x", got "y".',
      '"list" must be array, got {}',
      '"n" must be number, got "3"',
    ]);
  });

  test("with an unknown type in a condition refuses nothing", async () => {
    for (const key of ["not", "if"]) {
      const schema = { type: "object", properties: { a: { [key]: { type: "int" } } } };
      expect(await argumentProblems(schema, { a: 1 })).toEqual([]);
    }
  });

  test.each([
    ["an unknown type", { type: "object", properties: { a: { type: "strnig" } } }],
    ["a reference to nowhere", { type: "object", properties: { a: { $ref: "#/nowhere" } } }],
    ["a broken pattern", { type: "object", properties: { a: { pattern: "(" } } }],
    ["invalid properties", { type: "object", properties: [] }],
    ["required that is not a list", { type: "object", required: "a" }],
  ])("refuses nothing if it is %s", async (_, schema) => {
    expect(await argumentProblems(schema, { a: 1 })).toEqual([]);
  });
});
