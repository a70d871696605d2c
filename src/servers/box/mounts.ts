/** The contents of a box, as a list of mounts in the order in which they are made. */
import { isWithin } from "./paths.ts";

/** `read` and `write` show a path of the machine at the same place. `empty` is a folder in memory. */
export interface Mount {
  at: string;
  kind: "read" | "write" | "empty";
}

/**
 * Sorts mounts so that a folder is mounted before what is inside of it. Leaves out what another mount shows already: no mount is made inside a
 * writable folder, because its owner, the server, could have put a link in the place of the folder.
 */
export function orderedMounts(mounts: readonly Mount[]): Mount[] {
  const strongest = new Map<string, Mount>();
  for (const mount of mounts) {
    const known = strongest.get(mount.at);
    if (!known || rank(mount) > rank(known)) strongest.set(mount.at, mount);
  }
  const sorted = [...strongest.values()].sort((a, b) => (a.at < b.at ? -1 : 1));
  const kept: Mount[] = [];
  for (const mount of sorted) {
    const around = kept.findLast(({ at }) => isWithin(mount.at, at));
    const isShown = around?.kind === "write" || (around?.kind === "read" && mount.kind === "read");
    if (!isShown) kept.push(mount);
  }
  return kept;
}

const rank = ({ kind }: Mount) => ["empty", "read", "write"].indexOf(kind);
