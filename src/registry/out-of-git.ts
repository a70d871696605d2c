/** A registry that lies in a repository may be kept there: all but what is made anew from the rest. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { writeWhenChanged } from "../files.ts";
import { preparedFileName } from "./search/prepared.ts";

const text = `# What claudikins makes anew from index.json by itself.
${preparedFileName}
`;

/** Once there is such a file; a .gitignore that stands there already is somebody's own. */
export function keepOutOfGit(folder: string): void {
  if (!existsSync(join(folder, preparedFileName)) || !isInRepository(folder)) return;
  writeWhenChanged(join(folder, ".gitignore"), text, () => false);
}

function isInRepository(folder: string): boolean {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, ".git"))) return true;
    if (at === dirname(at)) return false;
  }
}
