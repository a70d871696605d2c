/** The documentation says what to read first and what is reference, and each page says what its reader can do after it. */
import { describe, expect, test } from "bun:test";
import { dirname, join, normalize } from "node:path";
import { docsPages, linksOf, type Page, pageAt } from "./pages.ts";

const list = pageAt("docs/README.md");

/** In words. A newcomer reads this much in twenty minutes. */
const readFirstWords = 4_300;

/** The pages of a group of the list, as paths from the root of the repository. */
function pagesIn(group: string): string[] {
  const section = list.text.split(/^## /m).find((text) => text.startsWith(`${group}\n`)) ?? "";
  const page = { path: list.path, text: section };
  return linksOf(page).map((target) => normalize(join(dirname(list.path), target)));
}

const first = pagesIn("Read first");
const reference = pagesIn("Reference");

test("every page is in exactly one of the two groups", () => {
  const all = [...first, ...reference].filter((path) => dirname(path) === "docs");
  const pages = docsPages.map(({ path }) => path).filter((path) => path !== list.path);
  expect(all.toSorted()).toEqual(pages.toSorted());
});

test("the list has two groups, and the pages to read first are short together", () => {
  expect([...list.text.matchAll(/^## (.+)$/gm)].map(([, title]) => title)).toEqual(["Read first", "Reference"]);
  expect(first).toEqual(["README.md", "docs/getting-started.md", "docs/init.md"]);
  const words = first.flatMap((path) => pageAt(path).text.split(/\s+/));
  expect(words.length).toBeLessThanOrEqual(readFirstWords);
});

/** Describes what is wrong with the first paragraph of a page. Returns undefined if it says what a reader can do after the page. */
function problemOf({ text }: Page): string | undefined {
  const paragraph = text.split("\n\n")[1]?.trim() ?? "";
  if (!/^After this page you can \S/.test(paragraph)) return "does not begin with what a reader can do after it";
  const sentences = paragraph.match(/[.:?!](?=\s|$)/g)?.length ?? 0;
  if (!/\.$/.test(paragraph) || sentences > 2) return "does not begin with one or two sentences";
  return undefined;
}

describe("each page begins with what its reader can do after it", () => {
  test.each(docsPages)("$path", (page) => expect(problemOf(page)).toBeUndefined());

  test.each([
    ["# A\n\nThis page is about a thing.\n", "does not begin with what a reader can do after it"],
    ["# A\n\n## B\n\nAfter this page you can do it.\n", "does not begin with what a reader can do after it"],
    ["# A\n\nAfter this page you can do it. It is good. It is short.\n", "does not begin with one or two sentences"],
    ["# A\n\nAfter this page you can do one of these:\n\n- this\n", "does not begin with one or two sentences"],
    ["# A\n\nAfter this page you can use `v1.2`. It is\nshort.\n", undefined],
  ])("%j is checked", (text, problem) => {
    expect(problemOf({ path: "docs/some.md", text })).toBe(problem);
  });
});

test("no two pages begin in the same way", () => {
  const openings = docsPages.map(({ text }) => text.split("\n\n")[1]);
  expect(new Set(openings).size).toBe(docsPages.length);
});
