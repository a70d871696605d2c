/** Lists, measures and removes folders with their contents. Links are entries, and are never followed. */
import { readdirSync, rmdirSync, unlinkSync } from "node:fs";
import { type Folder, Place } from "../../../open-folder.ts";
import type { FileKind } from "../../guest/host.ts";
import { Fault } from "./fault.ts";
import { isTemporaryName } from "./path.ts";
import { kindOf } from "./stats.ts";

export interface Entry {
  name: string;
  /** The names of the folders between, joined by `/`. Empty for entries directly in the folder. */
  parent: string;
  kind: FileKind;
}

export interface Amount {
  /** Files, folders and all other entries. */
  entries: number;
  /** Size of the files. */
  bytes: number;
}

/**
 * Maximum depth. Other programs may create deeper folders than sandboxed code can. Each folder stays open while its contents are
 * read.
 */
const deepest = 128;
/** Age of a temporary file after which it counts as abandoned. No write takes this long. */
const abandonedAfterMs = 120_000;

/** Lists the entries, sorted by name. The contents of a folder follow directly after it. */
export function list(folder: Folder, recursive: boolean, parent = "", depth = 0): Entry[] {
  const entries: Entry[] = [];
  for (const name of readdirSync(folder.path).sort()) {
    if (isTemporaryName(name)) continue;
    const found = new Place(folder, name).find();
    if (!found) continue;
    const kind = kindOf(found);
    entries.push({ name, parent, kind });
    if (!recursive || kind !== "folder") continue;
    using inner = enter(folder, name, depth);
    entries.push(...list(inner, true, parent === "" ? name : `${parent}/${name}`, depth + 1));
  }
  return entries;
}

/** Counts the entries and bytes in a folder, and stops above `enough`. Removes abandoned temporary files. */
export function measure(folder: Folder, enough: Amount, depth = 0): Amount {
  const amount = { entries: 0, bytes: 0 };
  for (const name of readdirSync(folder.path)) {
    const place = new Place(folder, name);
    const found = place.find();
    if (!found) continue;
    if (isTemporaryName(name)) {
      if (found.isFile() && Date.now() - found.mtimeMs > abandonedAfterMs) unlinkSync(place.path);
      continue;
    }
    amount.entries += 1;
    if (found.isFile()) amount.bytes += found.size;
    if (found.isDirectory() && depth < deepest) {
      const { entries, bytes } = measureInside(folder, name, enough, depth + 1);
      amount.entries += entries;
      amount.bytes += bytes;
    }
    if (amount.entries > enough.entries || amount.bytes > enough.bytes) break;
  }
  return amount;
}

/** Measures a folder in a folder. One that cannot be opened counts as empty, so that it does not block writing elsewhere. */
function measureInside(folder: Folder, name: string, enough: Amount, depth: number): Amount {
  try {
    using inner = folder.enter(name);
    return measure(inner, enough, depth);
  } catch {
    return { entries: 0, bytes: 0 };
  }
}

/** Removes an entry with its contents, and returns what was removed. A link is removed without its target. */
export function removeAll(place: Place, depth = 0): Amount {
  const found = place.find();
  if (!found) throw new Fault("ENOENT");
  if (!found.isDirectory()) {
    unlinkSync(place.path);
    return { entries: 1, bytes: found.isFile() ? found.size : 0 };
  }
  const amount = { entries: 1, bytes: 0 };
  {
    using inner = enter(place.folder, place.name, depth);
    for (const name of readdirSync(inner.path)) {
      const removed = removeAll(new Place(inner, name), depth + 1);
      amount.entries += removed.entries;
      amount.bytes += removed.bytes;
    }
  }
  rmdirSync(place.path);
  return amount;
}

function enter(folder: Folder, name: string, depth: number): Folder {
  if (depth >= deepest) throw new Fault("ENAMETOOLONG", `folders are more than ${deepest} deep`);
  return folder.enter(name);
}
