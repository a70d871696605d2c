/** Commands, flags, config keys, error codes, messages and folders in the documentation exist. */
import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ClaudikinsError, type ErrorCode } from "../../src/base/errors.ts";
import type { Args, CommandEntry, Group } from "../../src/cli/command.ts";
import { commands } from "../../src/cli/command-table.ts";
import { parseConfig } from "../../src/config/parse.ts";
import { knownKeys } from "../../src/config/schema.ts";
import { root } from "../support/claudikins.ts";
import { allPages, codeSpansOf, codesIn, commandLinesOf, type Page, pageAt, rowsOf } from "./pages.ts";

/** Flags of every command line, which no command defines. */
const commonFlags = ["help", "version"];

/** The words of a call of claudikins in a command line; quotes hold a word together. */
function wordsOf(line: string): string[] {
  const [, call = ""] = /(?:^|\| |\(|-- )claudikins (.*)$/.exec(line) ?? [];
  const words: string[] = call.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? [];
  const end = words.findIndex((word) => /^(?:[|&;>#<]|--$)/.test(word));
  return end === -1 ? words : words.slice(0, end);
}

/** Describes the mistake in a documented command line. Returns undefined for a valid one. */
async function problemOf(line: string): Promise<string | undefined> {
  let words = wordsOf(line).map((word) => word.replace(/[).,;]+$/, ""));
  let among: Record<string, CommandEntry | Group> = commands;
  let found: CommandEntry | Group | undefined;
  while (words[0] !== undefined && !words[0].startsWith("-") && !(found && "load" in found)) {
    const [word = ""] = words;
    // COMMAND stands for any command.
    if (/^[A-Z]+$/.test(word)) return undefined;
    found = Object.hasOwn(among, word) ? among[word] : undefined;
    if (!found) return `there is no command ${word}`;
    if ("commands" in found) among = found.commands;
    words = words.slice(1);
  }
  if (found && "commands" in found && found.default !== undefined) found = found.commands[found.default];
  // Without a command, only the help takes a flag.
  if (line === "claudikins --help --all") return undefined;
  const args = found && "load" in found ? (await found.load()).default.args : {};
  const unknown = words.filter((word) => /^-{1,2}[a-z]/i.test(word)).find((word) => !isFlag(word, args));
  return unknown === undefined ? undefined : `there is no flag ${unknown}`;
}

function isFlag(word: string, args: Args): boolean {
  const [, dashes, name = ""] = /^(--?)([^=]*)/.exec(word) ?? [];
  if (dashes === "-") return Object.values(args).some(({ short }) => short === name);
  const takenBack = name.replace(/^no-/, "");
  return (
    commonFlags.includes(name) || [name, takenBack].some((each) => args[each]?.type && args[each].type !== "positional")
  );
}

describe.each(allPages)("$path", (page) => {
  test("names existing commands with existing flags", async () => {
    const spans = codeSpansOf(page).filter((code) => code.startsWith("claudikins "));
    const lines = [...commandLinesOf(page).filter((line) => wordsOf(line).length > 0), ...spans];
    const problems = await Promise.all(lines.map(async (line) => ({ line, problem: await problemOf(line) })));
    expect(problems.filter(({ problem }) => problem !== undefined)).toEqual([]);
  });
});

// The page of the benchmarks names the flags of `bun run bench`.
describe.each(allPages.filter(({ path }) => path !== "docs/benchmarks.md"))("$path", (page) => {
  test("names only flags that a command has", async () => {
    const known = await Promise.all(entriesOf(commands).map(async ({ load }) => (await load()).default.args));
    const flags = codeSpansOf(page).filter((code) => /^--[a-z]/.test(code));
    expect(flags.filter((flag) => !known.some((args) => isFlag(flag.split(" ")[0] ?? "", args)))).toEqual([]);
  });
});

function entriesOf(among: Record<string, CommandEntry | Group>): CommandEntry[] {
  return Object.values(among).flatMap((each) => ("commands" in each ? entriesOf(each.commands) : [each]));
}

test("problemOf describes an unknown command and an unknown flag", async () => {
  expect(await problemOf("claudikins daemon stop")).toBeUndefined();
  expect(await problemOf("echo 1 | claudikins exec -")).toBeUndefined();
  expect(await problemOf("claudikins daemon halt")).toBe("there is no command halt");
  expect(await problemOf("claudikins exec x.ts --fast # quick")).toBe("there is no flag --fast");
  expect(await problemOf("claudikins add x -- npx -y thing")).toBeUndefined();
});

describe("docs/configuration.md", () => {
  const rows = rowsOf(pageAt("docs/configuration.md"), "key");

  test.each(Object.entries(knownKeys))("has exactly the keys of %s in its tables", (level, keys) => {
    const shown = rows.filter(({ mark }) => mark === `keys: ${level}`).flatMap(({ cells }) => codesIn(cells["key"]));
    expect(shown.sort()).toEqual([...keys].sort());
  });

  test("says for every table of keys where they belong", () => {
    const levels = Object.keys(knownKeys).map((level) => `keys: ${level}`);
    expect(rows.filter(({ mark }) => !levels.includes(mark))).toEqual([]);
  });

  test("states the real defaults in code", () => {
    const { servers, limits, ...config } = parseConfig(
      '{ "mcpServers": { "x": { "command": "y" } } }',
      "claudikins.json",
    );
    const defaults: Record<string, object> = { config, limits, server: servers.get("x") ?? {} };
    for (const { mark, cells } of rows) {
      const inLevel = defaults[mark.replace("keys: ", "")];
      const [, shown] = /^`([^`]+)`$/.exec(cells["default"] ?? "") ?? [];
      for (const key of codesIn(cells["key"])) {
        const value = (inLevel as Record<string, unknown> | undefined)?.[key];
        if (value === undefined || typeof value === "object" || shown === undefined) continue;
        expect([key, shown]).toEqual([key, JSON.stringify(value)]);
      }
    }
  });
});

describe("docs/troubleshooting.md", () => {
  const page: Page = pageAt("docs/troubleshooting.md");

  test("has exactly the error codes, with their exit codes", () => {
    const codes = [...readFileSync(join(root, "src", "base", "errors.ts"), "utf8").matchAll(/^ {2}([A-Z_]+): \d+,$/gm)];
    const shown = rowsOf(page, "code").map(({ cells }) => [codesIn(cells["code"])[0], cells["exit code"]]);
    expect(codes.length).toBeGreaterThan(20);
    expect(shown).toEqual(codes.map(([, code]) => [code, String(new ClaudikinsError(code as ErrorCode, "").exitCode)]));
  });

  test("explains messages that are in the source", () => {
    const source = (readdirSync(join(root, "src"), { recursive: true }) as string[])
      .filter((name) => name.endsWith(".ts"))
      .map((name) => readFileSync(join(root, "src", name), "utf8").replaceAll('\\"', '"'))
      .join("\n");
    const messages = rowsOf(page, "message").flatMap(({ cells }) => codesIn(cells["message"]));
    expect(messages.length).toBeGreaterThan(50);
    const parts = (message: string) => message.split(/<[^>]+>/).filter((part) => /\p{L}{2}/u.test(part));
    expect(messages.filter((message) => !parts(message).every((part) => source.includes(part.trim())))).toEqual([]);
  });
});

describe("src/README.md", () => {
  const rows = rowsOf(pageAt("src/README.md"), "folder");
  const folders = rows.map(({ cells }) => codesIn(cells["folder"])[0]?.replace(/\/$/, "") ?? "");

  test("has a line for each folder of the source", () => {
    const there = readdirSync(join(root, "src"), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ parentPath, name }) =>
        join(parentPath, name)
          .slice(join(root, "src").length + 1)
          .replaceAll("\\", "/"),
      );
    expect(folders.toSorted()).toEqual(there.sort());
  });

  test("names files that exist", () => {
    const files = rows.flatMap(({ cells }, index) =>
      codesIn(cells["where to start"]).map((name) => `${folders[index]}/${name}`),
    );
    expect(files.length).toBeGreaterThanOrEqual(rows.length);
    expect(files.filter((file) => !existsSync(join(root, "src", file)))).toEqual([]);
  });
});
