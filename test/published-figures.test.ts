/** The numbers on the README and in the docs are those of the last published run of the bench, whose results are committed. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Results } from "../scripts/bench/figures.ts";
import { benchmarks, pages, problemsOf } from "../scripts/bench/pages.ts";
import { root } from "./support/claudikins.ts";

/** Limits that claudikins keeps, and numbers that explain the tables. They are not measurements. */
const limits = ["1,000 tokens", "95 %", "12 %"];

const results = JSON.parse(readFileSync(join(root, "scripts", "bench", "results.json"), "utf8")) as Results;
const textOf = (page: string) => readFileSync(join(root, page), "utf8");

test.each([...pages, "docs/getting-started.md", "docs/comparison.md"])(
  "every measurement in %s is a figure of the published run",
  (page) => {
    expect(problemsOf(textOf(page), results, limits)).toEqual([]);
  },
);

test("the page of benchmarks has a table for every section of the published run", () => {
  const headings = [...textOf(benchmarks).matchAll(/^### (.+)$/gm)].map(([, name]) => name);
  expect(headings).toEqual(results.sections.map(({ name }) => name));
});

test("the README shows three figures, with the command that measures them", () => {
  const figures = [...textOf("README.md").matchAll(/<!-- figure: ([^ /]+)(?:\/[^ ]+)? -->/g)].map(([, id]) => id);
  expect(new Set(figures).size).toBe(3);
  expect(textOf("README.md")).toContain("`bun run bench --only tasks`");
});
