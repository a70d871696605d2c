/** Bundles the scripts of the pages. It runs when the source is loaded; an executable contains the scripts instead: see `madeScripts` in scripts/entries.ts. */
import { join } from "node:path";
import { bundledScript } from "../base/bundled-script.ts";

const source = join(import.meta.dir, "..");
const browser = join(source, "page", "browser");

/** Returns the script of the page of `claudikins ui`. */
export function browserScript(): string {
  const shared = [
    "policy/hidden-characters.ts",
    "base/duration.ts",
    "base/counted.ts",
    "base/units.ts",
    "page/limits.ts",
  ].map((path) => join(source, path));
  return bundledScript({
    name: "page",
    entry: join(browser, "main.tsx"),
    sources: [browser, ...shared],
    options: ['--define=process.env.NODE_ENV="production"'],
  });
}

/** Returns the script of the editor, a module that the page loads when the editor is opened. */
export function editorScript(): string {
  return bundledScript({
    name: "editor",
    entry: join(browser, "editor", "script.ts"),
    sources: [join(browser, "editor"), join(source, "policy", "hidden-characters.ts")],
    options: ["--format=esm"],
  });
}

/** Returns the script of the page of an execution. */
export function executionScript(): string {
  const entry = join(browser, "execution", "script.ts");
  return bundledScript({ name: "execution", entry, sources: [entry, join(browser, "list-keys.ts")] });
}
