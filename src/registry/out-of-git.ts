/** A registry that lies in a repository may be kept there: all but what is made anew from the rest. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { writeWhenChanged } from "../files.ts";
import { observedLockName } from "./observed/store.ts";
import { preparedFileName } from "./search/prepared.ts";

const names = [preparedFileName, observedLockName];

const text = `# claudikins regenerates these files.
${names.join("\n")}
`;

/** Once there is one of them; a .gitignore that stands there already is somebody's own. */
export function keepOutOfGit(folder: string): void {
  if (!names.some((name) => existsSync(join(folder, name))) || !isInRepository(folder)) return;
  writeWhenChanged(join(folder, ".gitignore"), text, () => false);
}

function isInRepository(folder: string): boolean {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, ".git"))) return true;
    if (at === dirname(at)) return false;
  }
}
