/** .ci/run fails if any step fails, and its last line counts the tests. Its steps are scripts here. */
import { expect, test } from "bun:test";
import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { Machine } from "./harness.ts";

const ci = join(import.meta.dir, "..", "..", ".ci", "run");
const summary = (passes: number, fails: number) => `printf ' %s\\n' '${passes} pass' '3 skip' '${fails} fail'`;
const succeeding = { install: ":", test: summary(41, 0), slow: summary(2, 0), check: ":" };

async function run(machine: Machine, steps: Partial<typeof succeeding>) {
  const { install, test: tests, slow, check } = { ...succeeding, ...steps };
  const file = join(machine.root, ".ci", "run");
  mkdirSync(join(machine.root, ".ci"));
  copyFileSync(ci, file);
  machine.write(join(machine.root, "install.sh"), `#!/bin/sh\necho "home: $HOME"\n${install}\n`);
  // All packages are installed, or else the script would install them on this machine.
  machine.fake("dpkg", ":");
  machine.fake(
    "npm",
    `case $* in test) ${tests} ;; "run test:slow") ${slow} ;; "run check") ${check} ;; *) exit 9 ;; esac`,
  );
  return machine.run({ shell: Bun.which("bash")!, file });
}

test.each([
  ["everything succeeds", {}, "=== OK: installs, tests and checks\n43 passed, 0 failed", 0],
  ["a test fails", { test: `${summary(40, 1)}; exit 1` }, "=== FAILED: 'npm test'\n42 passed, 1 failed", 1],
  ["the tests crash", { test: "exit 132" }, "=== FAILED: 'npm test'\n2 passed, 1 failed", 1],
  [
    "a slow test fails",
    { slow: `${summary(1, 3)}; exit 1` },
    "=== FAILED: 'npm run test:slow'\n42 passed, 3 failed",
    1,
  ],
  ["the check fails", { check: "exit 1" }, "=== FAILED: 'npm run check'\n43 passed, 0 failed", 1],
  [
    "all fail",
    { test: `${summary(9, 2)}; exit 1`, slow: "exit 1", check: "exit 1" },
    "=== FAILED: 'npm test' 'npm run test:slow' 'npm run check'\n9 passed, 3 failed",
    1,
  ],
  ["the installation fails", { install: "exit 3" }, "=== FAILED: ./install.sh, so nothing else was run", 1],
])(".ci/run reports the result if %s", async (_name, steps, ending, code) => {
  using machine = new Machine();
  const result = await run(machine, steps);
  expect(result.stdout).toEndWith(`\n${ending}\n`);
  expect(result.stdout).toContain("home: <tmp>");
  expect(result.code).toBe(code);
});

test(".ci/run repeats the output of failed tests at its end, without that of other tests", async () => {
  const log = `
test/a.test.ts:
noise
(pass) the first test [1.00ms]
6 |     expect(1).toBe(2);
                ^
error: expect(received).toBe(expected)

${"+ line\n".repeat(100)}
      at <anonymous> (test/a.test.ts:6:15)
(fail) the second test [1.00ms]
noise
(pass) the third test [1.00ms]
(fail) the fourth test [60000.00ms]
  ^ this test timed out after 60000ms.
7 |     throw error;
              ^
error: printed after the line of its test
(pass) the fifth test [1.00ms]
2 tests failed:
(fail) the second test [1.00ms]
`;
  using machine = new Machine();
  machine.write(join(machine.root, "log"), log);
  const { stdout } = await run(machine, { test: `cat "${join(machine.root, "log")}"; ${summary(3, 2)}; exit 1` });
  const [, repeated] = stdout.split("=== Failures of 'npm test'\n");
  expect(repeated).toBe(`6 |     expect(1).toBe(2);
                ^
error: expect(received).toBe(expected)

${"+ line\n".repeat(56)}      at <anonymous> (test/a.test.ts:6:15)
(fail) the second test [1.00ms]
(fail) the fourth test [60000.00ms]
  ^ this test timed out after 60000ms.
7 |     throw error;
              ^
error: printed after the line of its test

=== FAILED: 'npm test'
5 passed, 2 failed
`);
});

test(".ci/run repeats the end of the output of a run that crashed", async () => {
  using machine = new Machine();
  const { stdout } = await run(machine, { test: "echo 'panic: out of memory'; exit 132" });
  expect(stdout).toEndWith(
    "=== Failures of 'npm test'\npanic: out of memory\n\n=== FAILED: 'npm test'\n2 passed, 1 failed\n",
  );
});

const failing = (...files: string[]) =>
  `printf '%s\\n' ${files.map((file) => `'${file}:' '(pass) one' '(fail) two' ''`).join(" ")}; ${summary(3, files.length)}; exit 1`;

test.each([
  ["pass", 0, ["test/a.test.ts"], "=== OK: installs, tests and checks\n6 passed, 0 failed"],
  ["fail again", 1, ["test/a.test.ts"], "=== FAILED: 'npm run test:slow'\n44 passed, 1 failed"],
  [
    "are too many",
    0,
    ["a", "b", "c", "d", "e"].map((name) => `test/${name}.test.ts`),
    "=== FAILED: 'npm run test:slow'\n44 passed, 5 failed",
  ],
])(".ci/run runs the files of failed tests again, alone: they %s", async (_name, code, files, ending) => {
  using machine = new Machine();
  machine.write(join(machine.root, "node_modules", ".bin", "bun"), `#!/bin/sh\necho "alone: $*"\nexit ${code}\n`);
  const steps = { slow: failing(...files), ...(code === 0 && files.length === 1 ? { test: summary(2, 0) } : {}) };
  const { stdout } = await run(machine, steps);
  expect(stdout).toEndWith(`\n${ending}\n`);
  expect(stdout.includes("alone: test --timeout 60000 ./test/a.test.ts\n")).toBe(files.length === 1);
  const named = "=== These failed beside other tests, and passed alone\ntest/a.test.ts\n";
  expect(stdout.includes(named)).toBe(code === 0 && files.length === 1);
});
