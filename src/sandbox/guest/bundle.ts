/** Bundles the guest into one script. It runs when the source is loaded; an executable contains the script instead: see `madeScripts` in scripts/entries.ts. */
import { join } from "node:path";
import { bundledScript } from "../../base/bundled-script.ts";
import { guestParts, joinParts } from "./parts.ts";

/** Returns the script that a fresh context evaluates first. */
export function guestScript(): string {
  return joinParts(
    guestParts.map((part) =>
      bundledScript({
        name: `guest-${part.replace(/\W/g, "-")}`,
        entry: join(import.meta.dir, part),
        sources: [join(import.meta.dir, "..")],
      }),
    ),
  );
}
