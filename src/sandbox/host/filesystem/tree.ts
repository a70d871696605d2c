/** Lists, measures and removes folders with their contents. Links are entries, and are never followed. */
import { readdirSync, rmdirSync, type Stats, unlinkSync } from "node:fs";
import { systemCodeOf } from "../../../base/errors.ts";
import { type Folder, FolderEntry } from "../../../base/open-folder.ts";
import type { FileKind } from "../../guest/host.ts";
import { maxWalkedDepth } from "../../limits.ts";
import { FileRefusal } from "./fault.ts";
import { isTemporaryName } from "./path.ts";
import { kindOf } from "./stats.ts";

/** Age of a temporary file after which it counts as abandoned. No write takes this long. */
const abandonedFileAfterMs = 120_000;

export interface TreeEntry {
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

export const nothing = (): Amount => ({ entries: 0, bytes: 0 });

/** Lists the entries, sorted by name. The contents of a folder follow directly after it. */
export function list(folder: Folder, recursive: boolean, parent = "", depth = 0): TreeEntry[] {
  const entries: TreeEntry[] = [];
  for (const name of readdirSync(folder.path).sort()) {
    if (isTemporaryName(name)) continue;
    const found = new FolderEntry(folder, name).find();
    if (!found) continue;
    const kind = kindOf(found);
    entries.push({ name, parent, kind });
    if (!recursive || kind !== "folder") continue;
    using inner = enter(folder, name, depth);
    entries.push(...list(inner, true, parent === "" ? name : `${parent}/${name}`, depth + 1));
  }
  return entries;
}

/** A file or a folder, and its path below the folder where the walk began. */
export interface WalkedEntry {
  path: string;
  stats: Stats;
}

/** The files and folders in a folder, each folder before its contents. Links and special files are left out. Throws if one cannot be opened. */
export function* walk(folder: Folder, parent = "", depth = 0): Generator<WalkedEntry> {
  for (const name of readdirSync(folder.path)) {
    if (isTemporaryName(name)) continue;
    const stats = new FolderEntry(folder, name).find();
    if (!stats || !(stats.isFile() || stats.isDirectory())) continue;
    const path = parent + name;
    yield { path, stats };
    if (!stats.isDirectory()) continue;
    using inner = entered(folder, name, depth);
    if (inner) yield* walk(inner, `${path}/`, depth + 1);
  }
}

/** Undefined if it has just been removed. */
function entered(folder: Folder, name: string, depth: number): Folder | undefined {
  try {
    return enter(folder, name, depth);
  } catch (error) {
    if (systemCodeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Adds the entries and bytes in a folder to an amount, and stops above `enough`. Removes abandoned temporary files. */
export function measure(folder: Folder, enough: Amount, amount = nothing(), depth = 0): Amount {
  for (const name of readdirSync(folder.path)) {
    const place = new FolderEntry(folder, name);
    const found = place.find();
    if (!found) continue;
    if (isTemporaryName(name)) {
      if (found.isFile() && Date.now() - found.mtimeMs > abandonedFileAfterMs) unlinkSync(place.path);
      continue;
    }
    amount.entries += 1;
    if (found.isFile()) amount.bytes += found.size;
    try {
      if (found.isDirectory()) {
        using inner = enter(folder, name, depth);
        measure(inner, enough, amount, depth + 1);
      }
    } catch {
      // A folder that cannot be opened counts as empty, so that it does not block writing elsewhere.
    }
    if (amount.entries > enough.entries || amount.bytes > enough.bytes) break;
  }
  return amount;
}

/** Removes an entry with its contents, and adds what was removed to an amount. A link is removed without its target. */
export function removeAll(place: FolderEntry, amount = nothing(), depth = 0): Amount {
  const found = place.find();
  if (!found) throw new FileRefusal("ENOENT");
  if (found.isDirectory()) {
    {
      using inner = enter(place.folder, place.name, depth);
      for (const name of readdirSync(inner.path)) removeAll(new FolderEntry(inner, name), amount, depth + 1);
    }
    rmdirSync(place.path);
  } else {
    unlinkSync(place.path);
    if (found.isFile()) amount.bytes += found.size;
  }
  amount.entries += 1;
  return amount;
}

function enter(folder: Folder, name: string, depth: number): Folder {
  if (depth >= maxWalkedDepth) throw new FileRefusal("ENAMETOOLONG", `folders are more than ${maxWalkedDepth} deep`);
  return folder.enter(name);
}
