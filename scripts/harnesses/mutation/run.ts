/**
 * `bun run mutate [--seed n] [--count n] [--skip n] [--rooms policy,config] [--all] [--list]`: changes the source in small ways and
 * runs the tests against each change. A change that no test notices is a survivor: it is printed, and it is either harmless or a
 * missing test. `--list` only prints the changes, numbered, including those that do not compile; `--skip` leaves out the first ones.
 *
 * Mutations that do not compile are left out. Each is tested by the tests that reach its file, one after another: all of its own room
 * or of its name, and a few of others. Those that have run its line come first, and of equally near ones the quick ones. A test that
 * fails with the mutation must pass without it. `--all` also gives survivors to all of `npm test`. Works in a copy of the checkout,
 * so nothing is left behind when it is interrupted.
 */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join, normalize } from "node:path";
import { parseArgs } from "node:util";
import { root } from "../../../test/support/claudikins.ts";
import { temporaryFolder } from "../../../test/support/temporary.ts";
import { chosen, type Mutation, mutationsOf } from "./mutations.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    count: { type: "string", default: "150" },
    skip: { type: "string", default: "0" },
    rooms: { type: "string", default: "policy,sandbox/code,servers,tools/registry,config" },
    all: { type: "boolean", default: false },
    list: { type: "boolean", default: false },
  },
});

/** The number of test files of other rooms that a mutation is tried with. Nearly all tests reach a file of a lower layer. */
const testsOfOthers = 6;
/** A mutation may make a program run forever. A test file whose usual time is known gets ten times as much, if that is shorter. */
const longestMs = 180_000;
const shortestMs = 30_000;
/** As in `npm test`. */
const testTimeoutMs = 60_000;

using folder = temporaryFolder();
const copy = join(folder.path, "checkout");
for (const name of readdirSync(root)) {
  // Builds write files here for a moment.
  const isLeftOut = ["node_modules", "dist", ".git"].includes(name) || name.endsWith(".bun-build");
  if (!isLeftOut) cpSync(join(root, name), join(copy, name), { recursive: true });
}
// The packages of the checkout, with a cache of its own for the executables of the mutations. The names of engines, guests
// and fixtures say what they were made of.
const cacheOfRoot = join(root, "node_modules", ".cache", "claudikins");
const cache = join(copy, "node_modules", ".cache", "claudikins");
mkdirSync(cache, { recursive: true });
for (const name of existsSync(cacheOfRoot) ? readdirSync(cacheOfRoot) : []) {
  if (/^(?:engine|guest|fixtures)-/.test(name)) cpSync(join(cacheOfRoot, name), join(cache, name), { recursive: true });
}
for (const name of readdirSync(join(root, "node_modules"))) {
  if (name !== ".cache") symlinkSync(join(root, "node_modules", name), join(copy, "node_modules", name));
}

/** Test files that fail without a mutation. */
const unhealthy = new Set<string>();
/** How long each test file took without a failure. */
const durations = new Map<string, number>();
/** The lines that each test file ran in its own process, as `path:line`. */
const coverage = new Map<string, Set<string>>();
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
const count = Number(values.count);
const skip = Number(values.skip);
// More than needed, since some do not compile.
for (const [at, mutation] of chosen(groups, skip + count * 2, Number(values.seed)).entries()) {
  if (noticed + survivors.length >= count) break;
  if (at < skip) continue;
  if (values.list) {
    console.log(`${at}: ${textOf(mutation)}`);
    continue;
  }
  if (mutation.mayBreakTypes && !(await withMutation(mutation, compiles))) continue;
  const test = await firstToNotice(mutation);
  if (test === undefined) {
    survivors.push(mutation);
    console.log(textOf(mutation));
  } else {
    noticed += 1;
    console.error(`${at}: ${mutation.file}:${mutation.line} is noticed by ${test}`);
  }
  console.error(`${noticed} noticed, ${survivors.length} not`);
}
const share = noticed / Math.max(1, noticed + survivors.length);
if (!values.list)
  console.log(JSON.stringify({ seed: Number(values.seed), noticed, survivors: survivors.length, share }));

function textOf({ file, line, before, after }: Mutation): string {
  return `${file}:${line}\n- ${before.trim()}\n+ ${after.trim()}\n`;
}

function typescriptIn(name: string): string[] {
  return (readdirSync(join(copy, name), { recursive: true }) as string[])
    .filter((file) => file.endsWith(".ts"))
    .map((file) => `${name}/${file.replaceAll("\\", "/")}`)
    .sort();
}

async function withMutation<T>({ file, line, after }: Mutation, work: () => Promise<T>): Promise<T> {
  const path = join(copy, file);
  const text = readFileSync(path, "utf8");
  const builds = new Set(readdirSync(cache));
  writeFileSync(
    path,
    text
      .split("\n")
      .with(line - 1, after)
      .join("\n"),
  );
  try {
    return await work();
  } finally {
    writeFileSync(path, text);
    for (const name of readdirSync(cache)) if (!builds.has(name)) rmSync(join(cache, name), { recursive: true });
  }
}

/** A mutation may leave an import unused. */
function compiles(): Promise<boolean> {
  const known = ["--incremental", "--tsBuildInfoFile", join(folder.path, "compiled")];
  return succeeds([join(copy, "node_modules", ".bin", "tsc"), "--noEmit", "--noUnusedLocals", "false", ...known]);
}

async function firstToNotice(mutation: Mutation): Promise<string | undefined> {
  for (const test of testsOf(mutation)) {
    if (await withMutation(mutation, () => passes(test))) continue;
    if (await passes(test)) return test;
    console.error(`${test} fails without a mutation and is left out`);
    unhealthy.add(test);
  }
  const isNoticed = values.all && !(await withMutation(mutation, () => succeeds(["npm", "test"], 1_200_000)));
  return isNoticed ? "npm test" : undefined;
}

async function passes(test: string): Promise<boolean> {
  const startedAt = performance.now();
  const usualMs = durations.get(test) ?? longestMs;
  const recorded = join(folder.path, "coverage");
  const flags = ["--bail", "--no-isolate", "--timeout", String(testTimeoutMs)];
  const covering = ["--coverage", "--coverage-reporter=lcov", "--coverage-dir", recorded];
  const timeoutMs = Math.min(longestMs, Math.max(shortestMs, 10 * usualMs));
  const isPassing = await succeeds([process.execPath, "test", ...flags, ...covering, test], timeoutMs);
  if (isPassing) {
    durations.set(test, performance.now() - startedAt);
    coverage.set(test, linesIn(readFileSync(join(recorded, "lcov.info"), "utf8")));
  }
  return isPassing;
}

function linesIn(lcov: string): Set<string> {
  const lines = new Set<string>();
  let file = "";
  for (const record of lcov.split("\n")) {
    if (record.startsWith("SF:")) file = record.slice(3);
    const [, line, count] = /^DA:(\d+),(\d+)/.exec(record) ?? [];
    if (Number(count) > 0) lines.add(`${file}:${line}`);
  }
  return lines;
}

/** Runs a program, and ends it and those that it started after the time. */
async function succeeds(command: string[], timeoutMs = longestMs): Promise<boolean> {
  const child = Bun.spawn(command, { cwd: copy, stdin: "ignore", stdout: "ignore", stderr: "ignore", detached: true });
  const timer = setTimeout(() => process.kill(-child.pid, "SIGKILL"), timeoutMs);
  const exitCode = await child.exited;
  clearTimeout(timer);
  return exitCode === 0;
}

/** The test files that import the mutated file, directly or indirectly, in the order in which they are tried. */
function testsOf({ file, line }: Mutation): string[] {
  const distances = new Map([[file, 0]]);
  for (const [reached, distance] of distances) {
    for (const importer of importers.get(reached) ?? []) {
      if (!distances.has(importer)) distances.set(importer, distance + 1);
    }
  }
  // A line that did not run in the process of the test may have run in a worker or in the executable.
  const reach = (test: string) => (coverage.has(test) ? (coverage.get(test)!.has(`${file}:${line}`) ? 0 : 2) : 1);
  const rank = (test: string) => [reach(test), distances.get(test) ?? 0, durations.get(test) ?? 0];
  const tests = [...distances.keys()]
    .filter((each) => each.endsWith(".test.ts") && !isSlow(each) && !unhealthy.has(each))
    .map((each) => ({ test: each, rank: rank(each) }))
    .sort((a, b) => a.rank.map((part, index) => part - b.rank[index]!).find((difference) => difference !== 0) ?? 0)
    .map(({ test }) => test);
  // `test/daemon/policy.test.ts` is about `src/policy` too.
  const parts = file.replace(".ts", "").split("/");
  const isOwn = (test: string) => test.startsWith(`test/${parts[1]}/`) || parts.includes(basename(test, ".test.ts"));
  return [...tests.filter(isOwn), ...tests.filter((test) => !isOwn(test)).slice(0, testsOfOthers)];
}

function isSlow(test: string): boolean {
  return test.includes(".slow.") || /^test\/(?:bench|conformance|e2e|install|session)\//.test(test);
}

/** The files that import each file, start it as a worker by its path in `src`, or start it as a program that lies beside them. */
function importersOf(files: readonly string[]): Map<string, string[]> {
  const known = new Set(files);
  const found = new Map<string, string[]>();
  for (const file of files) {
    const text = readFileSync(join(copy, file), "utf8");
    for (const [, path = ""] of text.matchAll(/"([^"\s]+\.ts)"/g)) {
      for (const target of new Set([join(dirname(file), path), join("src", path), path].map(normalize))) {
        if (known.has(target)) found.set(target, [...(found.get(target) ?? []), file]);
      }
    }
  }
  return found;
}
