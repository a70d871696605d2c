/** Bundles the guest into one script. It is imported as a macro, so it runs during the build, or when the source is loaded. */
import { join } from "node:path";
import { bundledScript } from "../../bundled-script.ts";

/** Returns the script that a fresh context evaluates first. */
export function guestScript(): string {
  return bundledScript({
    name: "guest",
    entry: join(import.meta.dir, "main.ts"),
    sources: [join(import.meta.dir, "..")],
  });
}
