/** Search as a whole: our own requests, which hardly have a word of the tool that they want. */
import { expect, test } from "bun:test";
import { examples } from "./corpus.ts";
import { evaluate } from "./evaluate.ts";

test("the corpus has the stated size", () => {
  expect(examples.length).toBe(60);
  expect(new Set(examples.map(({ server }) => server)).size).toBe(12);
  expect(new Set(examples.flatMap(({ requests }) => requests)).size).toBe(120);
});

// Search without synonyms finds less than two thirds among the first five.
test("the right tool is among the first five for three of four requests, and first for more than one of three", () => {
  const { first, firstFive } = evaluate();
  expect(firstFive).toBeGreaterThanOrEqual(0.75);
  expect(first).toBeGreaterThanOrEqual(0.36);
});
