/** The README's numbers are those of the last published run of the bench: its results lie beside it. */
import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Results } from "./bench/figures.ts";
import { problemsOf } from "./bench/readme.ts";
import { root } from "./support/claudikins.ts";

/** Limits that claudikins holds to, which are no measurements. */
const limits = ["600 tokens", "120 tokens", "15 seconds", "50 MB"];

/** Said before there was a published run to take it from. */
const beforeResults = ["30 ms"];

test("no number in the README's prose that the bench has not printed", () => {
  const file = join(root, "test", "bench", "results.json");
  const results: Results | undefined = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined;
  const known = results ? limits : [...limits, ...beforeResults];
  expect(problemsOf(readFileSync(join(root, "README.md"), "utf8"), results, known)).toEqual([]);
});
