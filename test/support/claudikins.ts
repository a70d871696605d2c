/** The program under test: from source, and as the executable, built once for a test run and copied alone elsewhere. */
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const root = join(import.meta.dir, "..", "..");

/** `bun src/main.ts`, for tests that need no executable. */
export const fromSource: [string, ...string[]] = [process.execPath, join(root, "src", "main.ts")];

let built: string | undefined;

/** Path of the executable, alone in a folder of its own. */
export function executable(): string {
  if (built) return built;
  removeLeftBuilds();
  const folder = mkdtempSync(join(tmpdir(), `claudikins-build-${process.pid}-`));
  const outfile = join(folder, "build", "claudikins");
  const build = Bun.spawnSync([process.execPath, join(root, "scripts", "build.ts"), "--outfile", outfile]);
  if (!build.success) throw new Error(`the build failed: ${build.stderr.toString()}`);
  const alone = join(folder, "alone");
  mkdirSync(alone);
  built = join(alone, "claudikins");
  copyFileSync(outfile, built);
  process.on("exit", () => Bun.spawnSync(["rm", "-rf", folder]));
  return built;
}

/** Those of processes that have ended without a word, as the workers of a test run do. */
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
