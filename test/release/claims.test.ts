/** Claims about other programs have dates, and a release refuses old ones. */
import { describe, expect, test } from "bun:test";
import { claimPages, claimsOf, problemsOf } from "../../scripts/release/claims.ts";
import { linksOf, pageAt } from "../docs/pages.ts";

const now = Date.parse("2026-11-29T12:00:00Z");

const row = (date: string) => `| program | version | read on |\n| --- | --- | --- |\n| other | 1.0 | ${date} |\n`;

describe("a claim", () => {
  test.each([
    [row("29 November 2026"), []],
    [row("30 October 2026"), []],
    ["They were tried on\n28 November 2026.", []],
    [row("29 October 2026"), ["other: 29 October 2026 is 31 days ago, and at most 30 are allowed"]],
    ["As read on 1 January 2026.", ["read on: 1 January 2026 is 332 days ago, and at most 30 are allowed"]],
    [row("30 November 2026"), []],
    [row("1 December 2026"), ["other: 1 December 2026 is in the future"]],
    [row("23 Nonsense 2026"), ["other: 23 Nonsense 2026 is not a date"]],
    ["| other | since [2 August 2026][source] |", ["no date says when its claims about others were read"]],
  ])("in %j", (page, problems) => {
    expect(problemsOf(page, now)).toEqual(problems);
  });
});

test.each(claimPages)("%s has dated claims, all of the past", (path) => {
  const { text } = pageAt(path);
  const dates = claimsOf(text).map(({ date }) => Date.parse(`${date} UTC`));
  expect(dates.length).toBeGreaterThan(0);
  // At the time of its newest date, no other may be too old.
  expect(problemsOf(text, Math.max(...dates))).toEqual([]);
});

test("every source of the comparison is of a program with a date", () => {
  const page = pageAt("docs/comparison.md");
  const labels = [...page.text.matchAll(/^\[([^\]]+)\]: https:/gm)].map(([, label = ""]) => label);
  const names = claimsOf(page.text).map(({ about }) => about.toLowerCase().replaceAll(" ", "-"));
  expect(labels.filter((label) => !names.some((name) => label === name || label.startsWith(`${name}-`)))).toEqual([]);
  expect(names.filter((name) => !labels.some((label) => label.startsWith(name)))).toEqual(["opencode"]);
  expect(linksOf(page).length).toBeGreaterThan(labels.length);
});

test("the release workflow checks the dates before anything is built", () => {
  const { text } = pageAt(".github/workflows/release.yml");
  expect(text.indexOf("bun scripts/release/claims.ts")).toBeGreaterThan(0);
  expect(text.indexOf("bun scripts/release/claims.ts")).toBeLessThan(text.indexOf("bun scripts/release.ts build"));
});
