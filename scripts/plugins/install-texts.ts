/**
 * How the pages say to install claudikins. Until there is a release, nothing can be downloaded, so a clone comes first. The changelog has a
 * section with a version as soon as there is one; `npm run plugins` then turns the order around.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dir, "..", "..");

const repository = "https://github.com/claudikins/claudikins";
const npmCommand = "npm install --global claudikins";
const scriptCommand = `curl -fsSL ${repository}/releases/latest/download/install.sh | sh`;

/** Whether the changelog has a released version. */
export function hasRelease(changelog: string): boolean {
  return /^## \[?v?\d+\.\d+\.\d+/m.test(changelog);
}

const block = (language: string, ...lines: string[]) => `\`\`\`${language}\n${lines.join("\n")}\n\`\`\`\n`;

const clone = ["git clone https://github.com/claudikins/claudikins", "cd claudikins", "./install.sh"];

const update = "git pull && ./install.sh";

const needs = "This needs git, and Node.js 18 or newer with npm, on Linux or macOS";

/** The text between the marks of each page, by whether there is a release. */
const texts: Record<string, (isReleased: boolean) => string> = {
  "README.md": (isReleased) => {
    const npm = block("sh", npmCommand);
    const script = block("sh", scriptCommand);
    if (isReleased) {
      return `${npm}\nWithout Node.js, on Linux and macOS:\n\n${script}\nFor a newer version, run \`claudikins upgrade\`.\n`;
    }
    return `There is no release yet, so build claudikins from a clone. ${needs}:\n\n${block("sh", ...clone)}
For a newer version, run \`${update}\` in the clone. From the first release on, one line is enough, and \`claudikins upgrade\`
works:\n\n${npm}\nOr without Node.js, on Linux and macOS:\n\n${script}`;
  },
  "docs/getting-started.md": (isReleased) => {
    if (isReleased) return "With Node.js 18 or newer:\n";
    const build = block("console", ...clone.map((line) => `$ ${line}`));
    return `There is no release yet, so build claudikins from a clone. ${needs}:\n\n${build}
The other ways on this page work from the first release on. With Node.js 18 or newer:\n`;
  },
  "docs/upgrade.md": (isReleased) =>
    isReleased ? "" : `There is no release yet, so \`claudikins upgrade\` fails. In your clone, run \`${update}\`.\n\n`,
  "docs/windows.md": (isReleased) => (isReleased ? "" : "From the first release on:\n\n"),
  "docs/plugins.md": (isReleased) =>
    isReleased ? "" : "There is no release yet. Everything on this page works from the first release on.\n\n",
};

const begin = "<!-- install -->\n";
const end = "<!-- /install -->\n";

/** The pages with the text that is right at the time, by their paths in the repository. */
export function installPages(
  changelog = readFileSync(join(root, "CHANGELOG.md"), "utf8"),
): { path: string; content: string }[] {
  return Object.entries(texts).map(([path, text]) => {
    const page = readFileSync(join(root, path), "utf8");
    const [from, to] = [page.indexOf(begin), page.indexOf(end)];
    if (from === -1 || to < from) throw new Error(`${path} has no marks for the text about installing`);
    return { path, content: page.slice(0, from + begin.length) + text(hasRelease(changelog)) + page.slice(to) };
  });
}
