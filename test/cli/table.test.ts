/** Tables in narrow terminals. */
import { expect, test } from "bun:test";
import { table } from "../../src/cli/layout.ts";

const rows = [["52cd444790bf", "a long description that says much", "12"]];

test("a narrow terminal never cuts the first column, which holds what a person types next", () => {
  for (const width of [80, 48, 30, 20, 1]) {
    const text = table(["id", "what", "count"], rows, width, [2]);
    expect(text).toContain("52cd444790bf");
    if (width <= 48) expect(text).toContain("…");
  }
});

test("a table with one column is shown whole", () => {
  expect(table(["id"], [["52cd444790bf"]], 4)).toBe("id\n52cd444790bf\n");
});
