/** What a box shows: files and folders of the machine, held open until it is made, links to them, and empty folders in memory. */
import { HeldPath, type PathLink } from "../../base/held-path.ts";
import { isWithin } from "../../config/trust/written-folders.ts";

/** `read` and `write` show what is held at the same place. `empty` is a folder in memory. */
export interface Mount {
  at: string;
  kind: "read" | "write" | "empty";
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

  show(held: HeldPath, kind: "read" | "write" = "read"): void {
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
