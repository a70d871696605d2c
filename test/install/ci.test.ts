/** .ci/run: a failure of any step fails it, and its last line counts the tests. Its steps are scripts here. */
import { expect, test } from "bun:test";
import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { Machine } from "./harness.ts";

const ci = join(import.meta.dir, "..", "..", ".ci", "run");
const summary = (passes: number, fails: number) => `printf ' %s\\n' '${passes} pass' '3 skip' '${fails} fail'`;

test.each([
  ["all is well", ":", summary(41, 0), ":", "=== OK: installs, tests and checks\n41 passed, 0 failed", 0],
  ["a test fails", ":", `${summary(40, 1)}; exit 1`, ":", "=== FAILED: 'npm test'\n40 passed, 1 failed", 1],
  ["the tests crash", ":", "exit 132", ":", "=== FAILED: 'npm test'\n0 passed, 1 failed", 1],
  ["the check fails", ":", summary(41, 0), "exit 1", "=== FAILED: 'npm run check'\n41 passed, 0 failed", 1],
  [
    "both fail",
    ":",
    `${summary(9, 2)}; exit 1`,
    "exit 1",
    "=== FAILED: 'npm test' 'npm run check'\n9 passed, 2 failed",
    1,
  ],
  ["the installation fails", "exit 3", summary(41, 0), ":", "=== FAILED: ./install.sh, so nothing else was run", 1],
])("%s", async (_name, install, tests, check, ending, code) => {
  using machine = new Machine();
  const file = join(machine.root, ".ci", "run");
  mkdirSync(join(machine.root, ".ci"));
  copyFileSync(ci, file);
  machine.write(join(machine.root, "install.sh"), `#!/bin/sh\necho "home: $HOME"\n${install}\n`);
  machine.fake("npm", `case $* in test) ${tests} ;; "run check") ${check} ;; *) exit 9 ;; esac`);
  const result = await machine.run({ shell: Bun.which("bash")!, file });
  expect(result.stdout).toEndWith(`\n${ending}\n`);
  expect(result.stdout).toContain("home: <tmp>");
  expect(result.code).toBe(code);
});
