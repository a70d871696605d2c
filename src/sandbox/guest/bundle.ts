/** Bundles the guest into one script. It runs when the source is loaded; an executable contains the script instead: see `madeScripts` in scripts/entries.ts. */
import { join } from "node:path";
import { bundledScript } from "../../base/bundled-script.ts";

/** Returns the script that a fresh context evaluates first. */
export function guestScript(): string {
  return bundledScript({
    name: "guest",
    entry: join(import.meta.dir, "main.ts"),
    sources: [join(import.meta.dir, "..")],
  });
}
