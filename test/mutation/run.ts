/**
 * `bun run mutate [--seed n] [--count n] [--rooms policy,config] [--all]`: changes the source in small ways and runs the tests
 * against each change. A change that no test notices is a survivor: it is printed, and it is either harmless or a missing test.
 *
 * Mutations that do not compile are left out. Each is tested by the tests that reach its file, those of its own room first; `--all`
 * also gives survivors to all of `npm test`. Works in a copy of the checkout, so nothing is left behind when it is interrupted.
 */
import { cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { parseArgs } from "node:util";
import { root } from "../support/claudikins.ts";
import { temporaryFolder } from "../support/temporary.ts";
import { chosen, type Mutation, mutationsOf } from "./mutations.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    count: { type: "string", default: "150" },
    rooms: { type: "string", default: "policy,sandbox/code,clients,registry,config" },
    all: { type: "boolean", default: false },
  },
});

/** The number of test files of one run. Nearly all tests reach a file of a lower layer, and one of the nearest should notice a mutation there. */
const nearestTests = 25;

using folder = temporaryFolder();
const copy = join(folder.path, "checkout");
for (const name of readdirSync(root)) {
  if (!["node_modules", "dist", ".git"].includes(name)) cpSync(join(root, name), join(copy, name), { recursive: true });
}
symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));

/** Whether each test passes without a mutation. */
const healthy = new Map<string, boolean>();
const sourceFiles = typescriptIn("src");
const testFiles = typescriptIn("test");
const groups = values.rooms
  .split(",")
  .map((room) =>
    sourceFiles
      .filter((file) => file.startsWith(`src/${room}/`))
      .flatMap((file) => mutationsOf(file, readFileSync(join(copy, file), "utf8"))),
  );
const importers = importersOf([...sourceFiles, ...testFiles]);

let noticed = 0;
const survivors: Mutation[] = [];
// More than needed, since some do not compile.
for (const mutation of chosen(groups, Number(values.count) * 2, Number(values.seed))) {
  if (noticed + survivors.length >= Number(values.count)) break;
  const tests = testsFor(mutation.file);
  const path = join(copy, mutation.file);
  const text = readFileSync(path, "utf8");
  const lines = text.split("\n");
  lines[mutation.line - 1] = mutation.after;
  writeFileSync(path, lines.join("\n"));
  try {
    if (!compiles()) continue;
    if (isNoticed(tests)) noticed += 1;
    else {
      survivors.push(mutation);
      console.log(textOf(mutation));
    }
  } finally {
    writeFileSync(path, text);
  }
  console.error(`${noticed} noticed, ${survivors.length} not`);
}
const share = noticed / Math.max(1, noticed + survivors.length);
console.log(JSON.stringify({ seed: Number(values.seed), noticed, survivors: survivors.length, share }));

function textOf({ file, line, before, after }: Mutation): string {
  return `${file}:${line}\n- ${before.trim()}\n+ ${after.trim()}\n`;
}

function typescriptIn(name: string): string[] {
  return (readdirSync(join(copy, name), { recursive: true }) as string[])
    .filter((file) => file.endsWith(".ts"))
    .map((file) => `${name}/${file.replaceAll("\\", "/")}`);
}

function compiles(): boolean {
  return Bun.spawnSync([join(copy, "node_modules", ".bin", "tsc"), "--noEmit"], { cwd: copy }).exitCode === 0;
}

function isNoticed(tests: readonly string[]): boolean {
  if (tests.length > 0 && !passes(tests)) return true;
  return values.all && !passes([]);
}

/** The nearest tests of a file, without those that fail even though nothing is mutated. */
function testsFor(file: string): string[] {
  const isSlow = (test: string) =>
    test.includes(".slow.") || /^test\/(?:bench|conformance|e2e|install|session)\//.test(test);
  const tests = testsOf(file)
    .filter((test) => !isSlow(test))
    .slice(0, nearestTests);
  const unknown = tests.filter((test) => !healthy.has(test));
  if (unknown.length > 0 && passes(unknown)) for (const test of unknown) healthy.set(test, true);
  return tests.filter(isHealthy);
}

function isHealthy(test: string): boolean {
  const known = healthy.get(test);
  if (known !== undefined) return known;
  const isPassing = passes([test]);
  if (!isPassing) console.error(`${test} fails without a mutation and is left out`);
  healthy.set(test, isPassing);
  return isPassing;
}

/** Runs test files until one fails; all of `npm test` if none is given. */
function passes(tests: readonly string[]): boolean {
  const command = tests.length > 0 ? [process.execPath, "test", "--bail", "--no-isolate", ...tests] : ["npm", "test"];
  return Bun.spawnSync(command, { cwd: copy, stdout: "ignore", stderr: "ignore", timeout: 600_000 }).exitCode === 0;
}

/** The test files that import the file, directly or indirectly: the nearest first, and those of its own room before others. */
function testsOf(file: string): string[] {
  const distances = new Map([[file, 0]]);
  for (const [reached, distance] of distances) {
    for (const importer of importers.get(reached) ?? []) {
      if (!distances.has(importer)) distances.set(importer, distance + 1);
    }
  }
  const room = file.split("/")[1];
  const rank = (test: string) => (distances.get(test) ?? 0) + (test.startsWith(`test/${room}/`) ? 0 : 100);
  return [...distances.keys()].filter((each) => each.endsWith(".test.ts")).sort((a, b) => rank(a) - rank(b));
}

/** The files that import each file, or start it as a worker by its path in `src`. */
function importersOf(files: readonly string[]): Map<string, string[]> {
  const known = new Set(files);
  const found = new Map<string, string[]>();
  for (const file of files) {
    const text = readFileSync(join(copy, file), "utf8");
    for (const [, path = ""] of text.matchAll(/"(\.[^"]+\.ts)"/g)) {
      for (const target of new Set([normalize(join(dirname(file), path)), normalize(join("src", path))])) {
        if (known.has(target)) found.set(target, [...(found.get(target) ?? []), file]);
      }
    }
  }
  return found;
}
