/** The program under test: from source, and as the executable, which is built once per test run and copied to a separate folder. */
import { Database } from "bun:sqlite";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export const root = join(import.meta.dir, "..", "..");

/** `bun src/main.ts`. */
export const fromSource: [string, ...string[]] = [process.execPath, join(root, "src", "main.ts")];

/** What the tests build. */
const cache = join(root, "node_modules", ".cache", "claudikins");

const built = new Map<string, string>();

/** The path of the executable, alone in its folder. `options` are those of scripts/build.ts. */
export function executable(...options: string[]): string {
  const key = options.join(" ");
  const known = built.get(key);
  if (known) return known;
  removeLeftBuilds();
  const folder = mkdtempSync(join(tmpdir(), `claudikins-build-${process.pid}-`));
  const path = join(folder, "claudikins");
  copyFileSync(builtFromSource(options), path);
  process.on("exit", () => Bun.spawnSync(["rm", "-rf", folder]));
  built.set(key, path);
  return path;
}

/** Built once for all processes of a test run, and kept until the source changes. */
function builtFromSource(options: readonly string[]): string {
  const other = options.length === 0 ? "" : `-${Bun.hash(options.join(" ")).toString(16)}`;
  return cachedBuild(`executable-${sourceHash()}${other}`, (outfile) => {
    return [join(root, "scripts", "build.ts"), ...options, "--outfile", outfile];
  });
}

/** The file of this name in the cache. If there is none, Bun makes it with the arguments that `build` returns. */
export function cachedBuild(name: string, build: (outfile: string) => string[]): string {
  const kept = join(cache, name);
  if (existsSync(kept)) return kept;
  mkdirSync(dirname(kept), { recursive: true });
  // All processes of a test run want the same build at the same moment. One makes it, and the others wait.
  using lock = new Database(join(cache, "lock.sqlite"));
  lock.run("PRAGMA busy_timeout = 300000");
  lock.run("BEGIN EXCLUSIVE");
  if (existsSync(kept)) return kept;
  removeOldBuilds(name.replace(/-.*/, "-"));
  const outfile = `${kept}.${process.pid}`;
  const ended = Bun.spawnSync([process.execPath, ...build(outfile)], { cwd: root });
  if (!ended.success) throw new Error(`the build failed: ${ended.stderr.toString()}`);
  renameSync(outfile, kept);
  return kept;
}

function sourceHash(): string {
  return hashOf("src", "registry", "scripts", "package.json", "bun.lock", "tsconfig.json");
}

/** A hash of files, and of all files in folders. The paths are relative to the root. */
export function hashOf(...paths: string[]): string {
  const files = paths
    .map((path) => join(root, path))
    .flatMap((path) => {
      if (!statSync(path).isDirectory()) return path;
      return readdirSync(path, { recursive: true, encoding: "utf8" }).map((name) => join(path, name));
    });
  const texts = files
    .sort()
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path));
  return texts.reduce((sum, text) => Bun.hash(text, sum), Bun.hash(Bun.version)).toString(16);
}

/**
 * Removes builds whose names begin with this. Another checkout may use the same cache, so only those older than an hour are removed.
 */
function removeOldBuilds(beginning: string): void {
  for (const name of existsSync(cache) ? readdirSync(cache) : []) {
    const path = join(cache, name);
    const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0);
    if (name.startsWith(beginning) && age > 3_600_000) rmSync(path, { recursive: true, force: true });
  }
}

/** Removes builds of processes that ended without cleaning up, such as workers of a test run. */
function removeLeftBuilds(): void {
  for (const name of readdirSync(tmpdir())) {
    const pid = /^claudikins-build-(\d+)-/.exec(name)?.[1];
    if (pid && !isRunning(Number(pid))) rmSync(join(tmpdir(), name), { recursive: true, force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
