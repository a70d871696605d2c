/** Checks who owns a config. A file that other users own or can write is refused. */
import { lstatSync, realpathSync, type Stats, statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Why a config that was found must not be obeyed, as the rest of a sentence about it; undefined where it may be. The owner
 * has to be this user or root. A group may write only where it is the user's own: with a umask of 002 that is usual. Windows
 * says nothing of owners here, so nothing is checked there.
 */
export function ownershipProblem(file: string): string | undefined {
  if (process.platform === "win32") return undefined;
  const real = realpathSync(file);
  const files = [lstatSync(file), statSync(real)];
  const foreign = files.find((found) => !isOurs(found));
  if (foreign) return `belongs to another user (uid ${foreign.uid})`;
  // The rights of a link say nothing.
  if (othersCanWrite(files[1]!)) return "can be changed by other users";
  for (const folder of new Set([dirname(file), dirname(real)])) {
    const found = statSync(folder);
    // In a sticky folder, such as /tmp, nobody can replace a file of ours.
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
