/** Links of the documentation resolve, and each page begins with what its reader will be able to do. */
import { describe, expect, test } from "bun:test";
import { existsSync, statSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { root } from "../support/claudikins.ts";
import { allPages, anchorsOf, codeSpansOf, docsPages, linksOf, type Page, pageAt } from "./pages.ts";

/** Describes a broken link. Returns undefined for a link that resolves or leaves the repository. */
function problemOf(page: Page, target: string): string | undefined {
  if (/^[a-z]+:/.test(target)) return undefined;
  const [file = "", anchor] = target.split("#");
  const path = file === "" ? page.path : normalize(join(dirname(page.path), file));
  if (path.startsWith("..")) return "leads out of the repository";
  const inRoot = join(root, path);
  if (!existsSync(inRoot)) return `${path} does not exist`;
  if (anchor === undefined) return undefined;
  if (!statSync(inRoot).isFile()) return `${path} is a folder`;
  return anchorsOf(pageAt(path)).has(anchor) ? undefined : `${path} has no heading #${anchor}`;
}

describe.each([...allPages, pageAt("CHANGELOG.md")])("$path", (page) => {
  test("has links that resolve, with their anchors", () => {
    const problems = linksOf(page).flatMap((target) => {
      const problem = problemOf(page, target);
      return problem === undefined ? [] : [`${target}: ${problem}`];
    });
    expect(problems).toEqual([]);
  });

  test("names only files and folders of the repository that exist", () => {
    expect(
      pathsIn(page).filter((path) => ![root, join(root, "src")].some((from) => existsSync(join(from, path)))),
    ).toEqual([]);
  });
});

/** Paths in inline code: those that begin at a folder of the repository, and those of sources below src. */
function pathsIn(page: Page): string[] {
  const ours = /^(?:(?:src|test|scripts|docs|deploy|\.ci|\.github)\/[\w./-]*|(?:[\w-]+\/)+[\w.-]+\.tsx?)$/;
  return codeSpansOf(page).filter((code) => ours.test(code));
}

test("a path that does not exist is found", () => {
  const page = { path: "docs/some.md", text: "`src/cli/run.ts`, `cli/run.ts`, `src/no/where.ts` and `cli/nowhere.ts`" };
  expect(pathsIn(page)).toEqual(["src/cli/run.ts", "cli/run.ts", "src/no/where.ts", "cli/nowhere.ts"]);
});

describe.each(docsPages)("$path", ({ text }) => {
  test("opens with a title and a sentence", () => {
    const [title, blank, first = ""] = text.split("\n");
    expect(title).toMatch(/^# \S/);
    expect(blank).toBe("");
    expect(first).toMatch(/^\p{Lu}\p{L}*,? \p{L}/u);
    const paragraph = text.split("\n\n")[1]?.replaceAll("\n", " ");
    expect(paragraph).toMatch(/^[^.]+(?:\.[^ .]+[^.]*)*\.(?: |$)/);
  });
});

test("problemOf describes a broken link", () => {
  const page = { path: "docs/some.md", text: "# Some\n\n[a](nowhere.md) [b](policy.md#nothing) [c](#some)\n" };
  expect(linksOf(page).map((target) => problemOf(page, target))).toEqual([
    "docs/nowhere.md does not exist",
    "docs/policy.md has no heading #nothing",
    "docs/some.md does not exist",
  ]);
});
