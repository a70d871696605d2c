/** The progress of a server as one line for people. */
import { expect, test } from "bun:test";
import { progressText } from "../../src/programs/progress-text.ts";

test.each([
  [{ progress: 3, total: 10, message: "fetching page 3" }, "a.b: 3/10 fetching page 3"],
  [{ progress: 720, total: 2400, message: "720 of 2400" }, "a.b: 720 of 2400"],
  [{ progress: 720, total: 2400, message: "rows: 720/2,400" }, "a.b: rows: 720/2,400"],
  [{ progress: 720, total: 2400, message: "30 % done" }, "a.b: 30 % done"],
  [{ progress: 0.333, total: 1, message: "33%" }, "a.b: 33%"],
  [{ progress: 7, message: "Processed item 7" }, "a.b: Processed item 7"],
  [{ progress: 2400, total: 2400, message: "2400 of 2400" }, "a.b: 2400 of 2400"],
  [{ progress: 5, total: 5, message: "step 5 is done" }, "a.b: 5/5 step 5 is done"],
  [{ progress: 2, total: 10, message: "row 20 of 100" }, "a.b: 2/10 row 20 of 100"],
  [{ progress: 1 / 3, total: 1 }, "a.b: 0.33/1"],
  [{ progress: 7 }, "a.b: 7"],
  [{ progress: 7, total: 0, message: "" }, "a.b: 7"],
  [{ progress: -1, total: 5, message: " \u001b[1mone\n two " }, "a.b: -1/5 [1mone two"],
])("%j becomes one line", (progress, line) => expect(progressText("a.b", progress)).toBe(line));

test("long words are cut", () => {
  expect(progressText("a.b", { progress: 1, message: "x".repeat(10_000) })).toBe(`a.b: 1 ${"x".repeat(199)}…`);
});
