/** Bundles the guest into one script, when the product is built or the source is loaded: imported as a macro. */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { devNull } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dir, "..", "..", "..");

/** The script that a fresh context evaluates first. It is kept, since each run from source loads it and bundling takes 0.1 s. */
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
  // Neither the folder nor the variables of whoever builds it change the script.
  const built = Bun.spawnSync([process.execPath, "build", entry, ...options], {
    cwd: import.meta.dir,
    env: { BUN_BE_BUN: "1" },
  });
  if (!built.success) throw new Error(`the guest does not build: ${built.stderr.toString()}`);
  return built.stdout.toString();
}

/** Of everything that the script is made of: the guest's files, what they import of the sandbox, and the packages. */
function sourcesHash(): string {
  const sandbox = join(import.meta.dir, "..");
  const files = readdirSync(sandbox, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
  const lockfile = join(root, "bun.lock");
  const paths = [...files.sort().map((name) => join(sandbox, name)), ...(existsSync(lockfile) ? [lockfile] : [])];
  return paths.reduce((sum, path) => Bun.hash(readFileSync(path), sum), Bun.hash(Bun.version)).toString(16);
}
