/** Object types that several signatures share are written once. */
import { describe, expect, test } from "bun:test";
import { nameRepeatedTypes } from "../../../src/serve/tools/search-text.ts";

const page = '{ id: string; title: string; parent: "database" | "page"; created_at: string; archived: boolean }';
const list = `{ pages: ${page}[]; next_cursor: string | null }`;

describe("a long object type", () => {
  test("gets a name if two signatures have it", () => {
    expect(nameRepeatedTypes([`get(): Promise<${page}>`, `set(args: ${page}): Promise<unknown>`])).toEqual({
      types: [`type T1 = ${page}`],
      signatures: ["get(): Promise<T1>", "set(args: T1): Promise<unknown>"],
    });
  });

  test("keeps its place if only one signature has it once", () => {
    const signatures = [`get(): Promise<${page}>`, "set(): Promise<{ id: string }>"];
    expect(nameRepeatedTypes(signatures)).toEqual({ types: [], signatures });
  });

  test("gets a name inside another one", () => {
    expect(nameRepeatedTypes([`all(): ${list}`, `more(): ${list}`, `get(): ${page}`])).toEqual({
      types: ["type T1 = { pages: T2[]; next_cursor: string | null }", `type T2 = ${page}`],
      signatures: ["all(): T1", "more(): T1", "get(): T2"],
    });
  });

  test("is not named again where it occurs only inside a named one", () => {
    expect(nameRepeatedTypes([`all(): ${list}`, `more(): ${list}`]).types).toEqual([`type T1 = ${list}`]);
  });
});

test("short types keep their places", () => {
  const signatures = ["a(args: { id: string })", "b(args: { id: string })"];
  expect(nameRepeatedTypes(signatures)).toEqual({ types: [], signatures });
});

test.each([
  '{ kind: "}" | "{" | "a very long text that has braces, and makes the type long enough" | "x\\"}"; n: number }',
  "{ format: string /* one } per line, or two { and a long comment to make the type long enough */; n: number }",
])("braces in texts and comments do not count: %s", (type) => {
  expect(nameRepeatedTypes([`a(): ${type}`, `b(): ${type}`]).signatures).toEqual(["a(): T1", "b(): T1"]);
});

test("signatures with unbalanced braces stay as they are", () => {
  const signatures = ["a(): } {", `b(): "never ends { ${page}`];
  expect(nameRepeatedTypes(signatures)).toEqual({ types: [], signatures });
});

test("many different types of one server get at most twenty names, in little time", () => {
  const types = Array.from({ length: 2_000 }, (_, n) => page.replace("id:", `id_${n}:`));
  const { types: named } = nameRepeatedTypes([...types, ...types].map((type) => `f(): ${type}`));
  expect(named).toHaveLength(20);
});
