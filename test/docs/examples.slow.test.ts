/** The examples of the documentation work: commands succeed, programs run, configs are valid. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseConfig } from "../../src/config/parse.ts";
import { knownKeys } from "../../src/config/schema.ts";
import { executable } from "../support/claudikins.ts";
import { runProgram } from "../support/process.ts";
import { temporaryFolder } from "../support/temporary.ts";
import { blocksOf, docsPages, type Page } from "./pages.ts";

setDefaultTimeout(120_000);

/** Calls of claudikins; other lines of a block are for people. */
const isCommand = (line: string) => /^claudikins |\| claudikins /.test(line);

type Run = { line: number; program: string } | { line: number; command: string };

/** The commands and programs of a page, in order. Other blocks are not run. */
function runsOf(page: Page): Run[] {
  return blocksOf(page).flatMap(({ info, text, line }): Run[] => {
    if (info === "ts") return [{ line, program: text }];
    if (info !== "sh") return [];
    const commands = text.split("\n").filter(isCommand);
    return commands.map((command) => ({ line, command }));
  });
}

describe.each(docsPages.filter((page) => runsOf(page).length > 0))("$path", (page) => {
  test("has commands and programs that succeed in order, in an empty folder with an empty home", async () => {
    using folder = temporaryFolder();
    const home = join(folder.path, "home");
    const cwd = join(folder.path, "work");
    for (const each of [home, cwd]) mkdirSync(each);
    const env = {
      HOME: home,
      USERPROFILE: home,
      XDG_CONFIG_HOME: join(home, ".config"),
      XDG_DATA_HOME: join(home, ".local", "share"),
      PATH: `${dirname(executable())}:${process.env["PATH"]}`,
    };
    for (const { line, ...run } of runsOf(page)) {
      const file = `work/example-${line}.ts`;
      if ("program" in run) folder.write(file, run.program);
      const script = "program" in run ? `claudikins exec example-${line}.ts` : run.command;
      const { exitCode, stdout, stderr } = await runProgram(["sh", "-c", script], { cwd, env });
      const said = exitCode === 0 ? "" : `${stdout}${stderr}`;
      expect({ line, script, exitCode, said }).toEqual({ line, script, exitCode: 0, said: "" });
      // A program that succeeds can still print nonsense: a sum of a property that does not exist, and our own warning about it.
      const nonsense =
        "program" in run ? `${stdout}${stderr}`.match(/\bNaN\b|\bundefined\b|^warning, line .*$/gm) : null;
      expect({ line, script, nonsense }).toEqual({ line, script, nonsense: null });
    }
  });
});

describe.each(docsPages)("$path", (page) => {
  const ours = new Set(knownKeys.config);
  const isConfig = (value: object) => Object.keys(value).some((key) => ours.has(key));

  test("has valid JSON, and valid configs", () => {
    for (const { info, text, line } of blocksOf(page)) {
      if (info !== "json") continue;
      const value: object = JSON.parse(text);
      if (isConfig(value)) expect(() => parseConfig(text, `${page.path}:${line}`)).not.toThrow();
    }
  });

  test("has valid YAML", () => {
    for (const { info, text } of blocksOf(page)) if (info === "yaml") expect(Bun.YAML.parse(text)).toBeObject();
  });

  test("has only blocks in known languages", () => {
    const known = ["sh", "console", "ts", "ts no-run", "json", "jsonc", "toml", "yaml", "text"];
    for (const { info, line } of blocksOf(page)) expect([line, known]).toEqual([line, expect.arrayContaining([info])]);
  });
});
