/** `.claudikins` in a project: git does not list it, unless a person wants it to. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cli } from "../../cli/in-memory.ts";
import { fixture } from "../../support/servers.ts";
import { type TemporaryFolder, temporaryFolder } from "../../support/temporary.ts";

setDefaultTimeout(60_000);

let folder: TemporaryFolder;
let project: string;
const at = (...names: string[]) => join(project, ...names);
const claudikins = (...argv: string[]) => cli(argv, { cwd: project, env: { HOME: join(folder.path, "home") } });
const git = (...argv: string[]) => Bun.spawnSync(["git", ...argv], { cwd: project }).stdout.toString();
/** The paths that git would commit with `git add .`. */
const listed = () => git("ls-files", "--others", "--exclude-standard").split("\n").filter(Boolean);

beforeEach(() => {
  folder = temporaryFolder();
  project = join(folder.path, "project");
  folder.write("project/claudikins.json", { mcpServers: { odd: fixture("odd") } });
  git("init", "--quiet");
});
afterEach(() => folder[Symbol.dispose]());

describe("a project's .claudikins folder is not listed by git", () => {
  test.each([
    ["gen", ["gen"]],
    ["a search", ["search", "echo"]],
    ["a program that writes a file", ["exec", "-e", 'await fs.writeFile("./workspace/a.txt", "1")']],
    ["setup", ["setup"]],
  ])("after %s", async (_, argv) => {
    await claudikins(...argv);
    expect(existsSync(at(".claudikins", ".gitignore"))).toBe(true);
    expect(listed().filter((path) => path.startsWith(".claudikins"))).toEqual([]);
  });
});

test("the .gitignore says how to commit the registry, and a changed or removed one stays so", async () => {
  await claudikins("gen");
  await claudikins("exec", "-e", 'await fs.writeFile("./workspace/a.txt", "1")');
  const ignore = at(".claudikins", ".gitignore");
  const [, line = ""] =
    /To commit the registry, replace the next line by: (.*)\n/.exec(readFileSync(ignore, "utf8")) ?? [];
  writeFileSync(ignore, `${line}\n`);
  await claudikins("gen");
  expect(listed()).toContain(".claudikins/registry/index.json");
  expect(listed().filter((path) => path.includes("workspace"))).toEqual([]);
});

test("a .claudikins folder that exists, as in a repository with a committed registry, gets no .gitignore", async () => {
  mkdirSync(at(".claudikins"));
  await claudikins("gen");
  expect(existsSync(at(".claudikins", ".gitignore"))).toBe(false);
  expect(listed()).toContain(".claudikins/registry/index.json");
});

test("folders that the config names are committed as before", async () => {
  folder.write("project/claudikins.json", { mcpServers: { odd: fixture("odd") }, registry: "types" });
  await claudikins("gen");
  expect(listed()).toContain("types/index.json");
  expect(existsSync(at("types", "..", ".gitignore"))).toBe(false);
});
