/** The record of the config and the executable of a registry. */
import { beforeEach, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { noteOrigin, originOf } from "../../src/tools/origin.ts";
import { ownFolder } from "../support/own-folder.ts";

const folder = ownFolder();
let data: string;
let registry: string;
beforeEach(() => {
  data = join(folder.path, "data");
  registry = join(folder.path, "registry");
  mkdirSync(registry, { recursive: true });
});

/** A command that exists. */
function installed(name: string): string[] {
  const path = join(folder.path, name);
  writeFileSync(path, "");
  return [path];
}

function noted(command: string[], version: string) {
  noteOrigin(data, registry, { config: null, command, version });
  return originOf(data, registry);
}

test("a newer claudikins replaces the record of an older one", () => {
  noted(installed("old"), "0.1.0");
  const command = installed("new");
  expect(noted(command, "0.2.0")).toMatchObject({ command, version: "0.2.0" });
});

test("an older claudikins that still runs keeps the record of a newer one", () => {
  const command = installed("new");
  noted(command, "0.2.0");
  expect(noted(installed("old"), "0.1.0")).toMatchObject({ command, version: "0.2.0" });
});

test("the record of a newer version is replaced if that version is gone, or was replaced by the older one", () => {
  noted([join(folder.path, "gone")], "0.2.0");
  const command = installed("old");
  expect(noted(command, "0.1.0")).toMatchObject({ command, version: "0.1.0" });
  noted(command, "0.3.0");
  expect(noted(command, "0.1.0")).toMatchObject({ command, version: "0.1.0" });
});
