/** Bundles the script of the page. It is imported as a macro, so it runs during the build, or when the source is loaded. */
import { join } from "node:path";
import { bundledScript } from "../bundled-script.ts";

/** Returns the script that the browser runs. */
export function browserScript(): string {
  const browser = join(import.meta.dir, "browser");
  return bundledScript({
    name: "page",
    entry: join(browser, "main.tsx"),
    sources: [browser, join(import.meta.dir, "..", "policy", "visible.ts")],
    options: ['--define=process.env.NODE_ENV="production"'],
  });
}
