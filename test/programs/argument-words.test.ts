/** Words of a command line, converted to the types of a tool's schema. */
import { describe, expect, test } from "bun:test";
import { exactNumber } from "../../src/base/exact-json.ts";
import { type ArgumentWord, argumentsOf } from "../../src/programs/argument-words.ts";
import { argumentProblems } from "../../src/tools/arguments/argument-problems.ts";
import { exactArguments } from "../../src/tools/arguments/exact-arguments.ts";

const text = (pair: string): ArgumentWord => {
  const at = pair.indexOf("=");
  return { word: pair, key: pair.slice(0, at), text: pair.slice(at + 1) };
};
const json = (key: string, value: unknown): ArgumentWord => ({ word: `${key}:=…`, key, json: value });
const object = (value: Record<string, unknown>): ArgumentWord => ({ word: "{…}", object: value });

/** The arguments, or their problems. */
function made(given: ArgumentWord[], schema: Record<string, unknown>): unknown {
  const { args, problems } = argumentsOf(given, schema);
  return problems.length > 0 ? problems : args;
}

/** The value of a text for a property with this schema. */
function value(written: string, schema: unknown, more: object = {}): unknown {
  const result = made([text(`it=${written}`)], { type: "object", properties: { it: schema }, ...more });
  return Array.isArray(result) ? result : (result as { it: unknown }).it;
}

describe("a text becomes", () => {
  test.each<[string, unknown, unknown]>([
    ["5", { type: "string" }, "5"],
    ["true", { type: "string" }, "true"],
    ["null", { type: "string" }, "null"],
    ["", { type: "string" }, ""],
    [" two  words ", { type: "string" }, " two  words "],
    ["a=b", { type: "string" }, "a=b"],
    ['{"a":1}', { type: "string" }, '{"a":1}'],
    ["[1]", { type: "string" }, "[1]"],
    ["5", { type: "number" }, 5],
    ["-0.5", { type: "number" }, -0.5],
    ["1e3", { type: "number" }, 1000],
    [".5", { type: "number" }, 0.5],
    ["+5", { type: "number" }, 5],
    ["007", { type: "integer" }, 7],
    ["5.0", { type: "integer" }, 5],
    ["-3", { type: "integer" }, -3],
    ["true", { type: "boolean" }, true],
    ["false", { type: "boolean" }, false],
    ["null", { type: "null" }, null],
    ['{"a":{"b":[1]}}', { type: "object" }, { a: { b: [1] } }],
    ["[1,2]", { type: "array", items: { type: "number" } }, [1, 2]],
    ["1", { type: "array", items: { type: "number" } }, [1]],
    ["a,b", { type: "array", items: { type: "string" } }, ["a,b"]],
    ["5", { type: "array", items: { type: "string" } }, ["5"]],
    ["5", { type: "array" }, [5]],
    ["", { type: "array", items: { type: "string" } }, []],
    ["5", { type: "array", prefixItems: [{ type: "string" }] }, ["5"]],
    // Several types: the most specific one that the text matches.
    ["5", { type: ["string", "number"] }, 5],
    ["1.10", { type: ["string", "number"] }, "1.10"],
    ["007", { type: ["string", "integer"] }, "007"],
    ["12345678901234567890", { type: ["string", "integer"] }, "12345678901234567890"],
    ["12345678901234567890", { type: "integer" }, exactNumber("12345678901234567890")],
    ["0.1234567890123456789", { type: "number" }, exactNumber("0.1234567890123456789")],
    ["[12345678901234567890]", { type: "array" }, [exactNumber("12345678901234567890")]],
    ["1.5", { type: ["string", "integer"] }, "1.5"],
    ["null", { type: ["string", "null"] }, null],
    ["null", { type: "string", nullable: true }, null],
    ["none", { type: ["string", "null"] }, "none"],
    ["true", { anyOf: [{ type: "boolean" }, { type: "string" }] }, true],
    ["5", { oneOf: [{ type: "null" }, { type: "integer" }] }, 5],
    ["x", { anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] }, "x"],
    ['["x"]', { anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] }, ["x"]],
    ["[draft] x", { anyOf: [{ type: "string" }, { type: "array" }] }, "[draft] x"],
    ["5", { allOf: [{ type: "string" }, { minLength: 1 }] }, "5"],
    ['{"a":1}', { properties: { a: {} } }, { a: 1 }],
    ["x", { items: { type: "string" } }, ["x"]],
    // Enums
    ["open", { enum: ["open", "closed"] }, "open"],
    ["2", { enum: [1, 2, 3] }, 2],
    ["2", { enum: ["1", "2"] }, "2"],
    ["2", { type: "string", enum: ["1", "2"] }, "2"],
    ["true", { enum: ["true", "false"] }, "true"],
    ["auto", { enum: [true, "auto"] }, "auto"],
    ["true", { enum: [true, "auto"] }, true],
    ["null", { enum: ["a", null] }, null],
    ["v1", { const: "v1" }, "v1"],
    ["nope", { enum: ["open"] }, "nope"],
    // Without a declared type
    ["text", {}, "text"],
    ["5", {}, 5],
    ["true", true, true],
    ["[1", {}, "[1"],
    ['{"a":1}', undefined, { a: 1 }],
  ])("%s, %j: %j", (written, schema, expected) => {
    expect(value(written, schema)).toEqual(expected);
  });

  test("references are followed, also from array items and in cycles", () => {
    const $defs = { size: { type: "integer" }, node: { anyOf: [{ $ref: "#/$defs/node" }, { type: "number" }] } };
    expect(value("5", { $ref: "#/$defs/size" }, { $defs })).toBe(5);
    expect(value("5", { type: "array", items: { $ref: "#/$defs/size" } }, { $defs })).toEqual([5]);
    expect(value("5", { $ref: "#/$defs/node" }, { $defs })).toBe(5);
    expect(value("5", { $ref: "#/$defs/missing" }, { $defs })).toBe(5);
  });
});

describe("a text that does not fit its type is a problem", () => {
  test.each<[string, unknown, string]>([
    ["many", { type: "integer" }, '"it" takes a whole number, got "many" (it=many)'],
    ["5.5", { type: "integer" }, '"it" takes a whole number, got "5.5" (it=5.5)'],
    [
      "0.1234567890123456789",
      { type: "integer" },
      '"it" takes a whole number, got "0.1234567890123456789" (it=0.1234567890123456789)',
    ],
    ["0x10", { type: "number" }, '"it" takes a number, got "0x10" (it=0x10)'],
    ["Infinity", { type: "number" }, '"it" takes a number, got "Infinity" (it=Infinity)'],
    ["", { type: "number" }, '"it" takes a number, got "" (it=)'],
    ["yes", { type: "boolean" }, '"it" takes true or false, got "yes" (it=yes)'],
    ["x", { type: ["integer", "null"] }, '"it" takes a whole number or null, got "x" (it=x)'],
    ["x", { type: "object" }, '"it" takes a JSON object, got "x" (it=x)'],
    ["4", { enum: [true, null] }, '"it" takes one of true, null, got "4" (it=4)'],
    ["x", { type: "array", items: { type: "number" } }, '"it" takes a number, got "x" (it=x)'],
  ])("%s, %j", (written, schema, problem) => {
    expect(value(written, schema)).toEqual([problem]);
  });

  test("invalid JSON is a problem if the type requires JSON", () => {
    expect(value("[1,", { type: "array", items: { type: "string" } })).toEqual([
      expect.stringMatching(/^"it" is not JSON: .* \(it=\[1,\)$/),
    ]);
    expect(value("{a:1}", { type: "object" })).toEqual([expect.stringContaining('"it" is not JSON')]);
  });

  test("all problems are reported at once", () => {
    const schema = { properties: { a: { type: "number" }, b: { type: "boolean" }, c: { type: "string" } } };
    expect(made([text("a=x"), text("b=y"), text("c=z")], schema)).toEqual([
      '"a" takes a number, got "x" (a=x)',
      '"b" takes true or false, got "y" (b=y)',
    ]);
  });
});

describe("a repeated name", () => {
  const tags = { properties: { tags: { type: "array", items: { type: "string" } }, one: { type: "string" } } };

  test("makes an array if the schema allows one", () => {
    expect(made([text("tags=a"), text("tags=b")], tags)).toEqual({ tags: ["a", "b"] });
    expect(made([text('tags=["a","b"]'), text("tags=c")], tags)).toEqual({ tags: ["a", "b", "c"] });
    expect(made([json("tags", ["a"]), text("tags=5")], tags)).toEqual({ tags: ["a", "5"] });
    expect(made([text("x=1"), text("x=b")], {})).toEqual({ x: [1, "b"] });
    const mixed = { properties: { it: { anyOf: [{ type: "string" }, { type: "array", items: { type: "number" } }] } } };
    expect(made([text("it=1"), text("it=2")], mixed)).toEqual({ it: [1, 2] });
    const tuple = { properties: { it: { type: "array", prefixItems: [{ type: "string" }, { type: "number" }] } } };
    expect(made([text("it=1"), text("it=2")], tuple)).toEqual({ it: ["1", 2] });
  });

  test("is refused if the schema does not allow an array", () => {
    expect(made([text("one=a"), text("one=b")], tags)).toEqual(['"one" is given 2 times but takes text (one=a one=b)']);
  });
});

describe("names with dots", () => {
  const schema = {
    properties: {
      "a.b": { type: "string" },
      a: { type: "object", properties: { b: { type: "integer" }, c: { type: "integer" } } },
      page: { $ref: "#/$defs/page" },
      free: { type: "object", additionalProperties: { type: "string" } },
      "x.y": { type: "object", properties: { z: { type: "boolean" } } },
    },
    $defs: { page: { properties: { size: { type: "integer" }, deep: { properties: { er: { type: "boolean" } } } } } },
  };

  test("mean a property of that name, or a nested property", () => {
    expect(made([text("a.b=1"), text("a.c=2")], schema)).toEqual({ "a.b": "1", a: { c: 2 } });
    expect(made([text("page.size=5"), text("page.deep.er=true")], schema)).toEqual({
      page: { size: 5, deep: { er: true } },
    });
    expect(made([text("free.x=5")], schema)).toEqual({ free: { x: "5" } });
    expect(made([text("x.y.z=true")], schema)).toEqual({ "x.y": { z: true } });
    expect(made([text("new.one=5")], schema)).toEqual({ new: { one: 5 } });
    expect(made([json("page.size", 7)], schema)).toEqual({ page: { size: 7 } });
  });

  test("add to an existing object, and are refused if the value is not an object", () => {
    expect(made([object({ page: { size: 1, more: 2 } }), text("page.size=5")], schema)).toEqual({
      page: { size: 5, more: 2 },
    });
    expect(made([text("new=5"), text("new.one=5")], schema)).toEqual(['"new" is not an object (new.one=5)']);
  });

  test("are ordinary names if a part is empty", () => {
    expect(made([text("a..b=1"), text(".x=2"), text("y.=3")], {})).toEqual({ "a..b": 1, ".x": 2, "y.": 3 });
  });
});

describe("objects", () => {
  test("are merged in order, and named arguments replace their values", () => {
    const schema = { properties: { a: { type: "array", items: { type: "number" } }, b: {} } };
    const given = [text("a=5"), object({ a: [1, 2], b: 1, c: true }), object({ b: 2 })];
    expect(made(given, schema)).toEqual({ a: [5], b: 2, c: true });
  });

  test("are passed on unchanged, even if they do not match the schema", () => {
    expect(made([object({ limit: "5" })], { properties: { limit: { type: "number" } } })).toEqual({ limit: "5" });
  });
});

test("a text that is accepted always has one of the types of the schema", async () => {
  const all = ["string", "number", "integer", "boolean", "null", "array", "object"];
  const texts = [
    "",
    "x",
    "5",
    "5.5",
    "-0",
    "007",
    "1e3",
    "1.10",
    "true",
    "null",
    "[1]",
    "[1",
    '{"a":1}',
    "{a",
    "12345678901234567890",
  ];
  let taken = 0;
  for (let bits = 1; bits < 1 << all.length; bits++) {
    const type = all.filter((_, place) => bits & (1 << place));
    const schema = { type: "object", properties: { it: { type } } };
    for (const written of texts) {
      const { args, problems } = argumentsOf([text(`it=${written}`)], schema);
      if (problems.length > 0) continue;
      taken += 1;
      expect([type, written, await argumentProblems(schema, exactArguments(schema, args).checked)]).toEqual([
        type,
        written,
        [],
      ]);
    }
    // Text is always valid.
    if (type.includes("string"))
      for (const written of texts) expect(argumentsOf([text(`it=${written}`)], schema).problems).toEqual([]);
  }
  expect(taken).toBeGreaterThan(1_000);
});

test("names such as __proto__ and toString are ordinary", () => {
  const { args } = argumentsOf(
    [
      text("__proto__=1"),
      text("constructor.name=x"),
      text("toString=2"),
      object(JSON.parse('{"__proto__":{"a":1},"b":1}')),
    ],
    { properties: {} },
  );
  expect(JSON.parse(JSON.stringify(args), (key, value) => (key === "__proto__" ? undefined : value))).toEqual({
    b: 1,
    constructor: { name: "x" },
    toString: 2,
  });
  expect(Object.hasOwn(args, "__proto__")).toBe(true);
  expect(({} as { a?: number }).a).toBeUndefined();
});

test("an invalid schema changes no value", () => {
  for (const schema of [{}, { type: 5 }, { properties: [] }, { anyOf: "x", properties: null }] as object[]) {
    expect(made([text("a=x"), json("b", [1])], schema as Record<string, unknown>)).toEqual({ a: "x", b: [1] });
  }
});
