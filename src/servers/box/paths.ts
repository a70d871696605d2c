/** The paths of a box: without links on the way, because the links could lead elsewhere when the box is made. */
import { lstatSync, readlinkSync } from "node:fs";
import { dirname, join, parse, resolve, sep } from "node:path";
import { maxLinks } from "../limits.ts";

/** A symbolic link that exists outside and is made inside. */
export interface BoxLink {
  at: string;
  /** Absolute. */
  to: string;
}

interface Followed {
  /** The path without links. */
  real: string;
  /** The links that lead to it. */
  links: BoxLink[];
}

/** Follows all links of an absolute path. Undefined if it does not exist, or leads in a circle. */
export function followed(path: string): Followed | undefined {
  const links: BoxLink[] = [];
  let rest = partsOf(resolve(path));
  let real = parse(resolve(path)).root;
  while (rest.length > 0) {
    const [name = "", ...more] = rest;
    const at = join(real, name);
    const found = lstatSync(at, { throwIfNoEntry: false });
    if (!found || links.length > maxLinks) return undefined;
    if (!found.isSymbolicLink()) {
      real = at;
      rest = more;
      continue;
    }
    const to = resolve(dirname(at), readlinkSync(at));
    links.push({ at, to });
    real = parse(to).root;
    rest = [...partsOf(to), ...more];
  }
  return { real, links };
}

function partsOf(path: string): string[] {
  return path.split(sep).filter(Boolean);
}

/** Whether the path is the folder or inside of it. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}
