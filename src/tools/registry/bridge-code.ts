/**
 * Bundles the module through which generated files make calls. It runs when the source is loaded; an executable contains the module
 * instead: see `madeScripts` in scripts/entries.ts.
 */
import { devNull } from "node:os";
import { join } from "node:path";

/** The code, for Bun and Node. It does not depend on the working directory or the environment of the build. */
export function bridgeCode(): string {
  const source = join(import.meta.dir, "..", "..");
  const options = ["--target=node", "--no-env-file", `--config=${devNull}`];
  const built = Bun.spawnSync([process.execPath, "build", join(source, "cli", "bridge.ts"), ...options], {
    cwd: source,
    env: { BUN_BE_BUN: "1" },
  });
  if (!built.success) throw new Error(`the bridge does not build: ${built.stderr.toString()}`);
  return built.stdout.toString();
}
