/** Changes to a text, and the way back to its positions. */
import { describe, expect, test } from "bun:test";
import { Edits } from "../../src/sandbox/code/edits.ts";

describe("edits", () => {
  test("apply in the order of their places, whatever the order in which they were made", () => {
    const edits = new Edits("a bb c");
    edits.insertLast(2, "3");
    edits.wrap({ start: 2, end: 4 }, "2", ")");
    edits.wrap({ start: 2, end: 6 }, "1", "]");
    edits.replace({ start: 0, end: 1 }, "A");
    edits.insert(4, "4");
    expect(edits.apply()).toBe("A 123bb)4 c]");
  });

  test("keep the line breaks of what they replace", () => {
    const edits = new Edits("a\nb\nc");
    edits.replace({ start: 0, end: 4 }, "x");
    expect(edits.apply()).toBe("x\n\nc");
  });

  test("lead back to the source: to the beginning of a change from within it, and to its end from behind it", () => {
    const edits = new Edits("abcdef");
    edits.replace({ start: 1, end: 4 }, "XY");
    edits.insert(5, "ZZ");
    expect(edits.apply()).toBe("aXYeZZf");
    expect([0, 1, 2, 3, 4, 5, 6, 7].map((offset) => edits.undo(offset))).toEqual([0, 1, 1, 4, 5, 5, 5, 6]);
  });
});
