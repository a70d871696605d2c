/** Bundles the script of the page. It runs when the source is loaded; an executable contains the script instead: see `madeScripts` in scripts/entries.ts. */
import { join } from "node:path";
import { bundledScript } from "../base/bundled-script.ts";

/** Returns the script that the browser runs. */
export function browserScript(): string {
  const browser = join(import.meta.dir, "browser");
  return bundledScript({
    name: "page",
    entry: join(browser, "main.tsx"),
    sources: [browser, ...["policy/visible.ts", "base/duration.ts"].map((path) => join(import.meta.dir, "..", path))],
    options: ['--define=process.env.NODE_ENV="production"'],
  });
}
