/** Large JSON documents are parsed in parts. The result must not differ from `JSON.parse`. */
import { expect, test } from "bun:test";
import { weigh } from "../../../src/base/json-weight.ts";
import { largeEntryBytes, parseLargeJson } from "../../../src/sources/openapi/document/parse-document.ts";

const long = "x".repeat(largeEntryBytes);

function inParts(json: string): unknown {
  const bytes = Buffer.from(json);
  return parseLargeJson(bytes, weigh(bytes, largeEntryBytes).large, (cause) => new Error(`faulty: ${cause}`));
}

/** Reads every entry. */
const copyOf = (value: unknown) => JSON.parse(JSON.stringify(value));

test.each([
  [
    "paths and components",
    {
      openapi: "3.1.0",
      paths: { "/a": { get: { text: long } }, "/b": {} },
      components: { schemas: { A: { text: long } } },
    },
  ],
  [
    "texts with brackets, quotes and other letters",
    { paths: { '/"{]\\': { get: `}]"\\${long}ö漢😀` } }, "x-ü": { ö: [long] } },
  ],
  ["paths that are a list, a text or nothing", { paths: [[long], { a: long }], tags: [{ name: long }] }],
  ["nothing large", { paths: { "/a": {} } }],
  ["a list", [{ paths: { "/a": { text: long } } }]],
  ["a text", long],
])("%s", (_, value) => {
  expect(copyOf(inParts(JSON.stringify(value, null, 1)))).toEqual(value);
  expect(copyOf(inParts(JSON.stringify(value)))).toEqual(value);
});

test("the last of several equal keys counts", () => {
  const json = `{"paths":{"/a":{"first":"${long}"},"/a":{"second":"${long}"}},"paths":{"/b":{"third":"${long}"}}}`;
  expect(copyOf(inParts(json))).toEqual(JSON.parse(json));
});

test("__proto__ is a key like any other", () => {
  const json = `{"__proto__":{"a":["${long}"]},"components":{"__proto__":{"polluted":"${long}"}},"paths":{"__proto__":{"polluted":"${long}"}}}`;
  const value = inParts(json) as Record<string, object>;
  expect(Object.keys(value)).toEqual(["__proto__", "components", "paths"]);
  expect(Object.getPrototypeOf(value["components"])).toBe(Object.prototype);
  expect(JSON.stringify(value)).toBe(JSON.stringify(JSON.parse(json)));
  expect("polluted" in {}).toBe(false);
});

test("the same entry is the same object while it is the last one that was read", () => {
  const { paths } = inParts(JSON.stringify({ paths: { "/a": { text: long } } })) as { paths: Record<string, object> };
  expect(paths["/a"]).toBe(paths["/a"]!);
});

test.each(['{"paths":{"/a":{"b":1', `{"paths":{"/a":{"b":"${long}}}}`, `{"components":{"a":{b:"${long}"}}}`, "{]", ""])(
  "faulty JSON is refused: %p",
  (json) => expect(() => copyOf(inParts(json))).toThrow(SyntaxError),
);

test("a faulty path is refused when it is read", () => {
  const value = inParts(`{"openapi":"3.1.0","paths":{"/a":{b:"${long}"}}}`) as {
    openapi: string;
    paths: Record<string, unknown>;
  };
  expect(value.openapi).toBe("3.1.0");
  expect(() => value.paths["/a"]).toThrow("faulty: SyntaxError");
});
