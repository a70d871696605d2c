/** Prints the section of CHANGELOG.md for a version, as the notes of its release: `bun scripts/release/notes.ts [0.2.0]`. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import manifest from "../../package.json" with { type: "json" };

/** The text between the heading of the version and the next one. Throws if there is none. */
export function notesOf(changelog: string, version: string): string {
  const sections = changelog.split(/^(?=## )/m);
  const section = sections.find((text) => /^## \[?([^\]\s]+)/.exec(text)?.[1] === version);
  if (section === undefined) throw new Error(`CHANGELOG.md has no section "## ${version}"`);
  const notes = section.slice(section.indexOf("\n")).trim();
  if (notes.replaceAll(/^#.*$/gm, "").trim() === "")
    throw new Error(`the section "## ${version}" of CHANGELOG.md is empty`);
  return `${notes}\n`;
}

if (import.meta.main) {
  const changelog = readFileSync(join(import.meta.dir, "..", "..", "CHANGELOG.md"), "utf8");
  try {
    process.stdout.write(notesOf(changelog, process.argv[2] ?? manifest.version));
  } catch (error) {
    console.error(
      `error: ${(error as Error).message}\n\nhint: Rename the section "Unreleased" to the version and the date.`,
    );
    process.exitCode = 1;
  }
}
