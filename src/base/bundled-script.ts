/** Bundles sources into one script for another engine, during the build or when the source is loaded. */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { devNull } from "node:os";
import { dirname, join } from "node:path";

const root = join(import.meta.dir, "..", "..");

export interface Bundling {
  /** The prefix of the cached file's name. */
  name: string;
  entry: string;
  /** Files and folders from which the script is made, beside packages. */
  sources: string[];
  /** More options of `bun build`. */
  options?: string[];
}

/** The script is cached on disk, because bundling takes 0.1 s and each run from source needs it. Throws if it does not build. */
export function bundledScript(bundling: Bundling): string {
  const folder = join(root, "node_modules", ".cache", "claudikins");
  const path = join(folder, `${bundling.name}-${sourcesHash(bundling)}.js`);
  if (existsSync(path)) return readFileSync(path, "utf8");
  const script = bundled(bundling);
  try {
    mkdirSync(folder, { recursive: true });
    const temporary = join(folder, `${process.pid}.tmp`);
    writeFileSync(temporary, script);
    renameSync(temporary, path);
  } catch {
    // If the cache cannot be written, the script is bundled each time.
  }
  return script;
}

function bundled({ name, entry, options = [] }: Bundling): string {
  const usual = ["--target=browser", "--format=iife", "--minify", "--no-env-file", `--config=${devNull}`];
  // The bundler matches the patterns in the "sideEffects" of a package.json with whole paths. A checkout in a folder with a bracket in its
  // name would lose files of core-js.
  usual.push("--ignore-dce-annotations");
  // The script must not depend on the working directory or the environment of the build.
  const built = Bun.spawnSync([process.execPath, "build", entry, ...usual, ...options], {
    cwd: dirname(entry),
    env: { BUN_BE_BUN: "1" },
  });
  if (!built.success) throw new Error(`the ${name} does not build: ${built.stderr.toString()}`);
  return built.stdout.toString();
}

/** A hash of everything that the script is made of: its sources, and the packages by the lockfile. */
function sourcesHash({ sources, options = [] }: Bundling): string {
  const lockfile = join(root, "bun.lock");
  const paths = [...sources.flatMap(filesIn), ...(existsSync(lockfile) ? [lockfile] : [])];
  const first = Bun.hash(JSON.stringify([Bun.version, options]));
  return paths.reduce((sum, path) => Bun.hash(readFileSync(path), sum), first).toString(16);
}

function filesIn(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  const names = readdirSync(path, { recursive: true, encoding: "utf8" }).filter((name) => /\.tsx?$/.test(name));
  return names.sort().map((name) => join(path, name));
}
