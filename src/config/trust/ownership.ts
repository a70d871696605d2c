/** Checks the owner of a config. A file that other users own or can write is refused. */
import { lstatSync, realpathSync, type Stats, statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Returns why a config that was found must not be used, as the predicate of a sentence. Returns undefined if it may be used. The
 * owner must be this user or root. Only the user's own group may write: a umask of 002, which is common, allows that. On Windows
 * nothing is checked, because Node has no owners there.
 */
export function ownershipProblem(file: string): string | undefined {
  if (process.platform === "win32") return undefined;
  const real = realpathSync(file);
  const files = [lstatSync(file), statSync(real)];
  const foreign = files.find((found) => !isOurs(found));
  if (foreign) return `belongs to another user (uid ${foreign.uid})`;
  // The mode of a link has no meaning, so only the file that it leads to is checked.
  if (othersCanWrite(files[1]!)) return "can be changed by other users";
  for (const folder of new Set([dirname(file), dirname(real)])) {
    const found = statSync(folder);
    // In a sticky folder such as /tmp, other users cannot replace our files.
    const isSticky = (found.mode & 0o1000) !== 0;
    if (!isSticky && othersCanWrite(found)) return "is in a folder that other users can change";
    if (!isOurs(found) && !isSticky) return `is in a folder of another user (uid ${found.uid})`;
  }
  return undefined;
}

const isOurs = ({ uid }: Stats) => uid === process.getuid?.() || uid === 0;

function othersCanWrite({ mode, gid }: Stats): boolean {
  return (mode & 0o002) !== 0 || ((mode & 0o020) !== 0 && gid !== process.getgid?.());
}
