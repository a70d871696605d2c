/** Changes of the files that a config is loaded from are noticed, and nothing else is. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { chmodSync, linkSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { watchedConfig, watchedFiles } from "../../src/config/watched-config.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

let folder: TemporaryFolder;
beforeEach(() => {
  folder = temporaryFolder();
  mkdirSync(join(folder.path, "project", "inner"), { recursive: true });
});
afterEach(() => folder[Symbol.dispose]());

const watched = () =>
  watchedConfig({ flag: undefined, cwd: join(folder.path, "project", "inner"), env: { HOME: folder.path } });

test("nothing has changed while nothing changes", () => {
  folder.write("project/claudikins.json", "{}");
  const config = watched();
  expect([config.hasChanged(), config.hasChanged()]).toEqual([false, false]);
});

test.each<[string, () => void]>([
  ["a config is written", () => folder.write("project/claudikins.json", '{ "mcpServers": {} }')],
  ["a nearer config is created", () => folder.write("project/inner/claudikins.json", "{}")],
  ["the user's config is created", () => folder.write(".config/claudikins/claudikins.json", "{}")],
  ["others may write the config", () => chmodSync(join(folder.path, "project", "claudikins.json"), 0o666)],
  ["others may replace the config", () => chmodSync(join(folder.path, "project"), 0o777)],
])("a change is noticed once when %s", (_, change) => {
  folder.write("project/claudikins.json", "{}");
  const config = watched();
  change();
  expect([config.hasChanged(), config.hasChanged()]).toEqual([true, false]);
});

test("another executable is a change, and a hard link to the same one is not", () => {
  folder.write("claudikins", "one");
  const program = join(folder.path, "claudikins");
  const files = watchedFiles(undefined, program, { HOME: folder.path });
  linkSync(program, join(folder.path, "another"));
  expect(files.hasChanged()).toBe(false);
  folder.write("claudikins", "another version");
  expect(files.hasChanged()).toBe(true);
});
