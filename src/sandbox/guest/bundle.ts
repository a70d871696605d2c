/** Bundles the guest into one script, when the product is built or the source is loaded: imported as a macro. */
import { join } from "node:path";

/** The script that a fresh context evaluates first. */
export function guestScript(): string {
  const entry = join(import.meta.dir, "main.ts");
  const built = Bun.spawnSync([process.execPath, "build", entry, "--target=browser", "--format=iife", "--minify"], {
    env: { ...process.env, BUN_BE_BUN: "1" },
  });
  if (!built.success) throw new Error(`the guest does not build: ${built.stderr.toString()}`);
  return built.stdout.toString();
}
