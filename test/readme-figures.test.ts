/** The README's numbers are those of the last published run of the bench: its results lie beside it. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Results } from "./bench/figures.ts";
import { problemsOf } from "./bench/readme.ts";
import { root } from "./support/claudikins.ts";

/** Limits that claudikins holds to, which are no measurements. */
const limits = ["600 tokens", "120 tokens", "15 seconds", "5 s", "50 MB", "128 MB", "256 MB", "1,000 times"];

test("no number in the README that the bench has not printed", () => {
  const results = JSON.parse(readFileSync(join(root, "test", "bench", "results.json"), "utf8")) as Results;
  expect(problemsOf(readFileSync(join(root, "README.md"), "utf8"), results, limits)).toEqual([]);
});
