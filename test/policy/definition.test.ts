/** What makes two definitions of a tool the same one. */
import { expect, test } from "bun:test";
import { changedParts, definitionOf } from "../../src/policy/definition.ts";

const tool = { name: "remove-it", description: "Removes a draft.", inputSchema: { type: "object" } };

test("a definition is bound to the server's entry and to what the server calls itself", () => {
  const of = (entry: object, info: object) => definitionOf(tool, [entry, info], undefined).digests;
  const before = of({ command: "a" }, { name: "rec", version: "1" });
  expect(changedParts(before, of({ command: "a" }, { version: "1", name: "rec" }))).toEqual([]);
  expect(changedParts(before, of({ command: "b" }, { name: "rec", version: "1" }))).toEqual(["its server"]);
  expect(changedParts(before, of({ command: "a" }, { name: "rec", version: "2" }))).toEqual(["its server"]);
  const odd = (schema: string) => definitionOf(JSON.parse(`{"inputSchema":${schema}}`), "s", undefined).digests;
  // Keys that mean something to the language are keys like others.
  expect(changedParts(odd('{"__proto__":{"a":1}}'), odd('{"__proto__":{"a":2}}'))).toEqual(["its arguments"]);
});
