/**
 * Publishes a release on GitHub: `bun scripts/release/publish-github.ts v0.2.0 [--folder dist/release] [--changelog CHANGELOG.md]
 * [--dry-run]`.
 *
 * The files are uploaded to a draft, so nobody sees half a release. It can be run again after a failure, and leaves a published release
 * as it is.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { notesOf } from "./notes.ts";

const root = join(import.meta.dir, "..", "..");
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    folder: { type: "string", default: join(root, "dist", "release") },
    changelog: { type: "string", default: join(root, "CHANGELOG.md") },
    "dry-run": { type: "boolean", default: false },
  },
});
const [tag = ""] = positionals;
const version = tag.replace(/^v/, "");
const folder = resolve(values.folder);
const files = readdirSync(folder)
  .sort()
  .map((name) => join(folder, name));
const changelog = readFileSync(values.changelog, "utf8");
// A dry run comes before the section is renamed to the version.
const isUnreleased = values["dry-run"] && !changelog.includes(`## ${version}`);
const notes = notesOf(changelog, isUnreleased ? "Unreleased" : version);

const isDraft = values["dry-run"] ? undefined : stateOf(tag);

if (values["dry-run"]) {
  console.log(`would publish ${tag} with ${files.length} files and these notes:\n\n${notes}`);
} else if (isDraft === false) {
  console.log(`already published: ${tag}`);
} else {
  const isPrerelease = version.includes("-");
  if (isDraft === undefined) {
    gh("release", "create", tag, "--draft", "--verify-tag", "--title", `claudikins ${version}`, "--notes", notes);
  }
  gh("release", "upload", tag, "--clobber", ...files);
  gh("release", "edit", tag, "--draft=false", ...(isPrerelease ? ["--prerelease"] : ["--latest"]));
  console.log(`published: ${tag}`);
}

/** Whether the release is a draft. Undefined if there is none. */
function stateOf(tag: string): boolean | undefined {
  const { stdout, success } = Bun.spawnSync(["gh", "release", "view", tag, "--json", "isDraft"]);
  return success ? (JSON.parse(stdout.toString()) as { isDraft: boolean }).isDraft : undefined;
}

function gh(...args: string[]): void {
  const { success } = Bun.spawnSync(["gh", ...args], { stdio: ["ignore", "inherit", "inherit"] });
  if (!success) throw new Error(`gh ${args.slice(0, 3).join(" ")} failed`);
}
