/** The examples of the README and of docs/getting-started.md run, and the README stays short and in order. */
import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import manifest from "../package.json" with { type: "json" };
import { installPages } from "../scripts/plugins/install-texts.ts";
import { commands } from "../src/cli/command-table.ts";
import { agents } from "../src/setup/agents/supported/agents.ts";
import { root } from "./support/claudikins.ts";
import { claudikinsCommand } from "./support/command.ts";
import { runProgram, shellLine } from "./support/process.ts";
import { type TemporaryFolder, temporaryFolder } from "./support/temporary.ts";

setDefaultTimeout(60_000);

const pageOf = (name: string) => readFileSync(join(root, name), "utf8");
const readme = pageOf("README.md");

/** The fenced blocks of one language, in order. */
function blocks(language: string, page = readme): string[] {
  return [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "gm"))].map(([, text = ""]) => text);
}

const steady = (text: string) => text.replace(/\d[\d.,]* m?s\b/, "N ms");

let folder: TemporaryFolder;
beforeAll(() => {
  folder = temporaryFolder();
  return () => folder[Symbol.dispose]();
});

test.each([
  ["README.md", "urgent.ts"],
  ["docs/getting-started.md", "top-customers.ts"],
])("the program in %s prints what is shown", async (name, file) => {
  const page = pageOf(name);
  const [program = ""] = blocks("ts", page);
  const session = blocks("console", page).find((block) => block.startsWith("$ claudikins exec ")) ?? "";
  const [command, ...shown] = session.split("\n");
  expect(command).toBe(`$ claudikins exec ${file}`);
  folder.write(file, program);
  const { stdout, stderr, exitCode } = await runProgram([...claudikinsCommand, "exec", file], { cwd: folder.path });
  const [receipt, ...logs] = stderr.trimEnd().split("\n").reverse();
  const printed = [...logs.reverse(), ...stdout.trimEnd().split("\n"), receipt, ""];
  expect(steady(printed.join("\n"))).toBe(steady(shown.join("\n")));
  expect(exitCode).toBe(0);
});

test("every claudikins command of the shell blocks succeeds", async () => {
  const commands = blocks("sh").flatMap((block) => block.split("\n").filter((line) => line.startsWith("claudikins ")));
  expect(commands.length).toBeGreaterThanOrEqual(2);
  for (const command of commands) {
    const script = `claudikins() { ${shellLine(claudikinsCommand)} "$@"; }\n${command}`;
    const { exitCode, stdout, stderr } = await runProgram(["sh", "-c", script], { cwd: folder.path });
    expect({ command, exitCode, stderr: exitCode === 0 ? "" : stderr }).toEqual({ command, exitCode: 0, stderr: "" });
    expect(stdout).not.toBe("");
  }
});

test("every claudikins command in the text exists", async () => {
  const shown = [...readme.matchAll(/`claudikins ([a-z]+)/g), ...readme.matchAll(/^\$ claudikins ([a-z]+)/gm)];
  const names = new Set(shown.map(([, name = ""]) => name));
  expect(names.size).toBeGreaterThanOrEqual(5);
  for (const name of names) expect(Object.keys(commands)).toContain(name);
});

test("an agent that is connected by hand starts claudikins serve, as init writes it", () => {
  const [, table = ""] = readme.split("| agent | command |");
  const rows = [...table.slice(0, table.indexOf("\n\n")).matchAll(/^\| ([^|-][^|]*) \| (.+) \|$/gm)];
  expect(rows.length).toBe(5);
  for (const [, agent = "", command = ""] of rows) {
    expect(agents.map(({ title }) => title)).toContain(agent);
    expect(command).toMatch(/ claudikins serve`|"command": ?"claudikins", ?"args": ?\["serve"\]/);
  }
});

test("the README is short, and its sections come in this order", () => {
  expect(readme.length).toBeLessThanOrEqual(12_000);
  expect([...readme.matchAll(/^## (.+)$/gm)].map(([, title]) => title)).toEqual([
    "Install",
    "First result",
    "Connect your agent",
    "What it does for you",
    "Three figures",
    "Limits, and where others are the better choice",
    "Development",
    "Licence",
  ]);
});

test("the two commands of a newcomer are the ones that CI runs", () => {
  const ci = readFileSync(join(root, ".ci", "run"), "utf8");
  const newcomer = blocks("sh").at(-1)?.trim().split("\n");
  expect(newcomer).toEqual(["./install.sh", "npm test"]);
  for (const command of newcomer ?? []) expect(ci).toContain(command);
});

describe("the first command of Install is one that works today", () => {
  const [, repository = ""] = /^repository=(.+)$/m.exec(pageOf("install.sh")) ?? [];
  const clone = [`git clone ${repository}`, "cd claudikins", "./install.sh"].join("\n");
  const download = [
    `npm install --global ${manifest.name}`,
    `curl -fsSL ${repository}/releases/latest/download/install.sh | sh`,
  ];
  const pages = ["README.md", "docs/getting-started.md"] as const;
  const commandsOf = (name: string, page: string) =>
    blocks(name === "README.md" ? "sh" : "console", page).map((block) => block.trim().replace(/^\$ /gm, ""));

  test("a clone before the first release, and the downloads afterwards, marked as such", () => {
    const before = installPages("## Unreleased\n");
    const after = installPages("## Unreleased\n\n## 0.1.0 - 2027-01-01\n");
    for (const name of pages) {
      const pageIn = (all: typeof before) => all.find(({ path }) => path === name)?.content ?? "";
      expect(commandsOf(name, pageIn(before)).slice(0, 3)).toEqual([clone, ...download]);
      expect(pageIn(before)).toMatch(/There is no release yet[\s\S]*rom the first release on/);
      expect(commandsOf(name, pageIn(after)).slice(0, 2)).toEqual(download);
      expect(pageIn(after)).not.toContain("first release");
    }
    for (const { path, content } of after) expect([path, content.includes("no release yet")]).toEqual([path, false]);
  });

  test("as the changelog says whether there is a release; npm run plugins writes it", () => {
    for (const { path, content } of installPages()) expect([path, pageOf(path) === content]).toEqual([path, true]);
  });
});
