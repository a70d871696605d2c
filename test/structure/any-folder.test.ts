/** The tests pass in a checkout with any path: they quote the paths of programs for a shell, and make addresses of files with `pathToFileURL`. */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../support/claudikins.ts";

/** Forms that break for a path with a space, a quote or a percent sign. */
const fragile = [
  /`[^`]*file:\/\/\$\{(?:join|root|import)/,
  /(?:claudikinsCommand|\bargs|\bwords)(?:\.map\([^)]*\))?\.join\(" "\)[^`]*"\$@"/,
  /`["']\$\{word\}["']`/,
  /exec (?:["']?)\$\{(?:process\.execPath|command|Bun\.which\(command\)|claudikinsCommand)/,
  /import[^`"]*["']\$\{(?:join\(root|root|import\.meta)/,
];

test("no test writes the path of a program into a script or an address without quoting it", () => {
  const names = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" });
  const found = names
    .filter((name) => name.endsWith(".ts") && name !== join("structure", "any-folder.test.ts"))
    .flatMap((name) => {
      const lines = readFileSync(join(root, "test", name), "utf8").split("\n");
      return lines.filter((line) => fragile.some((form) => form.test(line))).map((line) => `${name}: ${line.trim()}`);
    });
  expect(found).toEqual([]);
});
