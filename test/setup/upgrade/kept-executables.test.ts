/** The newest executable of each format of saved programs is kept. */
import { beforeEach, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { formatOf } from "../../../src/base/program-format.ts";
import { keepExecutable, keptExecutable, removeUnneeded } from "../../../src/setup/upgrade/kept-executables.ts";
import { ownFolder } from "../../support/own-folder.ts";
import { testEnvironment } from "../../support/process.ts";

const folder = ownFolder();
let env: Record<string, string>;
beforeEach(() => {
  env = testEnvironment({ HOME: folder.path, XDG_DATA_HOME: folder.path });
});

const keep = (mark: string) => keepExecutable(env, mark, folder.write(`bin/${mark}`, mark));
const kept = (mark: string) => {
  const path = keptExecutable(env, mark);
  return path && readFileSync(path, "utf8");
};

test("a newer version replaces an older one of the same format, and not the reverse", async () => {
  for (const mark of ["0.2.0 1", "0.10.0 1", "0.3.0 1"]) await keep(mark);
  expect([kept("0.2.0 1"), kept("0.4.0 2")]).toEqual(["0.10.0 1", undefined]);
  await keep("0.11.0 2");
  expect([kept("0.2.0 1"), kept("0.4.0 2")]).toEqual(["0.10.0 1", "0.11.0 2"]);
});

test("an executable is removed when it is old and no stored program needs it", async () => {
  await keep("0.2.0 1");
  const later = Date.now() + 31 * 86_400_000;
  removeUnneeded(env, new Set(["0.1.0 1"]), later);
  removeUnneeded(env, new Set(["0.3.0 2"]));
  expect(kept("0.2.0 1")).toBe("0.2.0 1");
  removeUnneeded(env, new Set(["0.3.0 2"]), later);
  expect(kept("0.2.0 1")).toBeUndefined();
});

test("the format in a mark is a safe name for a folder", () => {
  expect(["0.1.0 12", "0.1.0 ../..", ""].map(formatOf)).toEqual(["12", "unknown", "unknown"]);
});
