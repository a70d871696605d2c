/** Bundles the guest into one script. It is imported as a macro, so it runs during the build, or when the source is loaded. */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { devNull } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dir, "..", "..", "..");

/**
 * Returns the script that a fresh context evaluates first. It is cached on disk, because bundling takes 0.1 s and each run from
 * source needs it.
 */
export function guestScript(): string {
  const folder = join(root, "node_modules", ".cache", "claudikins");
  const path = join(folder, `script-${sourcesHash()}.js`);
  if (existsSync(path)) return readFileSync(path, "utf8");
  const script = bundled();
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

function bundled(): string {
  const entry = join(import.meta.dir, "main.ts");
  const options = ["--target=browser", "--format=iife", "--minify", "--no-env-file", `--config=${devNull}`];
  // The script must not depend on the working directory or the environment of the build.
  const built = Bun.spawnSync([process.execPath, "build", entry, ...options], {
    cwd: import.meta.dir,
    env: { BUN_BE_BUN: "1" },
  });
  if (!built.success) throw new Error(`the guest does not build: ${built.stderr.toString()}`);
  return built.stdout.toString();
}

/** Returns a hash of everything that the script is made of: the files of the sandbox, and the packages by the lockfile. */
function sourcesHash(): string {
  const sandbox = join(import.meta.dir, "..");
  const files = readdirSync(sandbox, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
  const lockfile = join(root, "bun.lock");
  const paths = [...files.sort().map((name) => join(sandbox, name)), ...(existsSync(lockfile) ? [lockfile] : [])];
  return paths.reduce((sum, path) => Bun.hash(readFileSync(path), sum), Bun.hash(Bun.version)).toString(16);
}
