/** What a box shows: files and folders of the machine, held open until it is made, links to them, and empty folders in memory. */
import { HeldPath, type PathLink } from "../../base/held-path.ts";
import type { Guard } from "../../config/guarded-places.ts";
import { isWithin } from "../../config/trust/written-folders.ts";

/** `empty` is a folder in memory. The others show what is held at the same place: `guard` and `pin` inside a writable folder, to read and to write. */
export interface Mount {
  at: string;
  kind: "empty" | "read" | "write" | Guard["kind"];
  held?: HeldPath;
}

export class Contents {
  readonly #writable: readonly HeldPath[];
  readonly #held: HeldPath[];
  readonly #mounts: Mount[] = [];
  readonly #links: PathLink[] = [];

  /**
   * `writable` are the folders that servers may write to. A path that leads through one of them is not shown: the server could change where it leads.
   * `held` gets everything that is opened.
   */
  constructor(writable: readonly HeldPath[], held: HeldPath[]) {
    this.#writable = writable;
    this.#held = held;
  }

  /** Finds a path of the machine, with its links. Undefined if it does not exist, or if a server could change where it leads. */
  find(path: string): HeldPath | undefined {
    const found = new HeldPath(path);
    this.#held.push(found);
    const isFixed = !this.#writable.some((folder) => found.leadsThrough(folder));
    return found.id !== undefined && isFixed ? found : undefined;
  }

  /** Shows a path of the machine to read, if it can be found. */
  add(path: string): void {
    const found = this.find(path);
    if (found) this.show(found);
  }

  show(held: HeldPath, kind: Exclude<Mount["kind"], "empty"> = "read"): void {
    this.#mounts.push({ at: held.path, kind, held });
    this.#links.push(...held.links);
  }

  empty(at: string): void {
    if (at !== "/") this.#mounts.push({ at, kind: "empty" });
  }

  shows(path: string): boolean {
    return this.#mounts.some(({ at }) => isWithin(path, at));
  }

  get mounts(): Mount[] {
    return orderedMounts(this.#mounts);
  }

  /** Links that exist outside and are made inside. */
  get links(): PathLink[] {
    const shown = this.mounts.filter(({ kind }) => kind !== "empty");
    const links = this.#links.filter(({ at }) => !shown.some((mount) => isWithin(at, mount.at)));
    return [...new Map(links.map((link) => [link.at, link])).values()];
  }
}

/**
 * Sorts mounts so that a folder is mounted before what is inside of it. Leaves out what another mount shows already: except for guards and
 * pins, no mount is made inside a writable folder, because its owner, the server, could have put a link in the place of the folder. It cannot replace
 * what is mounted in its own box.
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
    const isShown = around && around.kind !== "empty" && (mount.kind === "read" || around.kind !== "read");
    if (rank(mount) >= rank({ kind: "pin" }) || !isShown) kept.push(mount);
  }
  return kept;
}

const rank = ({ kind }: Pick<Mount, "kind">) => ["empty", "read", "write", "pin", "guard"].indexOf(kind);
