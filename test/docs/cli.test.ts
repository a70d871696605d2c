/** docs/cli.md is the output of scripts/cli-docs.ts, and every help text fits a terminal of 80 columns. */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { cliPage, cliPageFile, exitCodes } from "../../scripts/cli-docs.ts";
import { documentation } from "../../src/base/version.ts";
import { commands } from "../../src/cli/command-table.ts";
import { cli } from "../cli/in-memory.ts";
import { root } from "../support/claudikins.ts";
import { entries } from "../support/command-json.ts";

const page = readFileSync(cliPageFile, "utf8");

test("docs/cli.md is up to date; otherwise, run: bun run docs", async () => {
  expect(page).toBe(await cliPage());
});

test("docs/cli.md has a heading for every command that the help shows", () => {
  const headings = page.match(/(?<=^#{3,4} claudikins ).+$/gm) ?? [];
  const shown = entries.flatMap(({ path, entry }) => (entry.hidden ? [] : [path]));
  const groups = Object.entries(commands).flatMap(([name, entry]) => ("commands" in entry ? [name] : []));
  expect(headings.toSorted()).toEqual([...shown, ...groups].sort());
});

test("docs/cli.md explains every exit code", () => {
  const source = readFileSync(join(root, "src", "base", "errors.ts"), "utf8");
  const codes = [...source.matchAll(/^ {2}[A-Z_]+: (\d+),$/gm)].map(([, code]) => Number(code));
  expect(codes.length).toBeGreaterThan(20);
  expect(new Set([0, ...codes])).toEqual(new Set(Object.keys(exitCodes).map(Number)));
});

const groups = Object.entries(commands).flatMap(([name, entry]) => ("commands" in entry ? [[name]] : []));
const calls = [[], ...groups, ...entries.map(({ path }) => path.split(" "))];

describe("the help fits 80 columns", () => {
  test.each(calls.map((words) => [["claudikins", ...words].join(" "), words] as const))("%s", async (_, words) => {
    for (const options of [{}, { terminal: true, columns: 200 }]) {
      const { stdout } = await cli([...words, "--help"], options);
      const lines = Bun.stripANSI(stdout).split("\n");
      expect(lines.filter((line) => Bun.stringWidth(line) > 80)).toEqual([]);
    }
  });
});

test("the general help ends with the address of the documentation", async () => {
  const { stdout } = await cli(["--help"]);
  expect(stdout).toEndWith(`Documentation: ${documentation}\n`);
  const installer = readFileSync(join(root, "install.sh"), "utf8");
  const [, repository = "none"] = /^repository=(\S+)$/m.exec(installer) ?? [];
  expect(documentation).toStartWith(`${repository}/`);
});
