/** Bundles the guest into one script, when the product is built or the source is loaded: imported as a macro. */
import { devNull } from "node:os";
import { join } from "node:path";

/** The script that a fresh context evaluates first. */
export function guestScript(): string {
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
