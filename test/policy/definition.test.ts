/** When two definitions of a tool are the same. */
import { expect, test } from "bun:test";
import { changedParts, definitionOf } from "../../src/policy/definition.ts";

const tool = { name: "remove-it", description: "Removes a draft.", inputSchema: { type: "object" } };

test("a definition includes the server's entry and the name it reports", () => {
  const of = (entry: object, info: object) => definitionOf(tool, [entry, info], undefined).digests;
  const before = of({ command: "a" }, { name: "rec", version: "1" });
  expect(changedParts(before, of({ command: "a" }, { version: "1", name: "rec" }))).toEqual([]);
  expect(changedParts(before, of({ command: "b" }, { name: "rec", version: "1" }))).toEqual(["its server"]);
  expect(changedParts(before, of({ command: "a" }, { name: "rec", version: "2" }))).toEqual(["its server"]);
  const odd = (schema: string) => definitionOf(JSON.parse(`{"inputSchema":${schema}}`), "s", undefined).digests;
  // Special property names are ordinary keys.
  expect(changedParts(odd('{"__proto__":{"a":1}}'), odd('{"__proto__":{"a":2}}'))).toEqual(["its arguments"]);
});

test("a tool that its server no longer lists has changed, even if it had no parts", () => {
  const of = (listed: object | undefined) => definitionOf(listed, "s", undefined).digests;
  expect(changedParts(of({}), of(undefined))).toEqual(["whether its server lists it"]);
});
