/** What the system says of the files that could be the config. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { looksOf, possibleConfigs } from "../../src/config/mark.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

let folder: TemporaryFolder;
beforeEach(() => {
  folder = temporaryFolder();
  mkdirSync(join(folder.path, "project", "inner"), { recursive: true });
});
afterEach(() => folder[Symbol.dispose]());

const looks = () => {
  const choice = { flag: undefined, cwd: join(folder.path, "project", "inner"), env: { HOME: folder.path } };
  return looksOf(possibleConfigs(choice), choice.env);
};

test("the looks stay the same while nothing changes", () => {
  folder.write("project/claudikins.json", "{}");
  expect(looks()).toBe(looks());
});

test.each<[string, () => void]>([
  ["a config is written", () => folder.write("project/claudikins.json", '{ "mcpServers": {} }')],
  ["a nearer config is created", () => folder.write("project/inner/claudikins.json", "{}")],
  ["the user's config is created", () => folder.write(".config/claudikins/claudikins.json", "{}")],
  ["others may write the config", () => chmodSync(join(folder.path, "project", "claudikins.json"), 0o666)],
  ["others may replace the config", () => chmodSync(join(folder.path, "project"), 0o777)],
])("the looks change when %s", (_, change) => {
  folder.write("project/claudikins.json", "{}");
  const before = looks();
  change();
  expect(looks()).not.toBe(before);
});
