/** One line for whoever watches, whatever a server says. */
import { expect, test } from "bun:test";
import { progressText } from "../../src/flows/progress-text.ts";

test.each([
  [{ progress: 3, total: 10, message: "fetching page 3" }, "a.b: 3/10 fetching page 3"],
  [{ progress: 1 / 3, total: 1 }, "a.b: 0.33/1"],
  [{ progress: 7 }, "a.b: 7"],
  [{ progress: 7, total: 0, message: "" }, "a.b: 7"],
  [{ progress: -1, total: 5, message: " \u001b[1mone\n two " }, "a.b: -1/5 [1mone two"],
])("%j", (progress, line) => expect(progressText("a.b", progress)).toBe(line));

test("long words are cut", () => {
  expect(progressText("a.b", { progress: 1, message: "x".repeat(10_000) })).toBe(`a.b: 1 ${"x".repeat(199)}…`);
});
