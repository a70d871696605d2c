/** The mutations of a text, and the choice of some of them. */
import { expect, test } from "bun:test";
import { chosen, mutationsOf } from "../../../scripts/harnesses/mutation/mutations.ts";

const after = (line: string) => mutationsOf("a.ts", line).map((mutation) => mutation.after);

test.each([
  [
    "  if (a === b && c <= 2) return true;",
    [
      "  if (a !== b && c <= 2) return true;",
      "  if (a === b || c <= 2) return true;",
      "  if (a === b && c < 2) return true;",
      "  if (a === b && c <= 2) return false;",
    ],
  ],
  ["  if (!isReady) stop();", ["  if (isReady) stop();"]],
  ["  if (isReady) {", ["  if (!isReady) {"]],
  ["  this.#pool.close();", ["  ;"]],
  ["  const half = size - 1;", ["  const half = size + 1;"]],
  ["  return all.some((each) => each);", ["  return all.every((each) => each);"]],
])("mutationsOf changes %s", (line, mutations) => {
  expect(after(line)).toEqual(mutations);
});

test.each([
  "// a === b",
  " * a && b",
  'import { a } from "b";',
  "type Keys = A | B;",
  "const map = new Map<string, number>();",
])("mutationsOf leaves %s unchanged", (line) => {
  expect(after(line)).toEqual([]);
});

test("the same seed chooses the same mutations, evenly from all groups", () => {
  const groups = ["a", "b"].map((file) => mutationsOf(file, "if (x === 1) {\n".repeat(50)));
  const picked = chosen(groups, 10, 7);
  expect(picked.filter(({ file }) => file === "a")).toHaveLength(5);
  expect(chosen(groups, 10, 7)).toEqual(picked);
  expect(chosen(groups, 10, 8)).not.toEqual(picked);
});
