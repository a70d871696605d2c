/** Folders with all that is in them: listed, counted, removed. Links are entries of their own and lead nowhere. */
import { readdirSync, rmdirSync, unlinkSync } from "node:fs";
import { type Folder, Place } from "../../../open-folder.ts";
import type { FileKind } from "../../guest/host.ts";
import { Fault } from "./fault.ts";
import { kindOf } from "./kind.ts";
import { isTemporaryName } from "./path.ts";

export interface Entry {
  name: string;
  /** Names of the folders between, joined by `/`; empty at the top. */
  parent: string;
  kind: FileKind;
}

export interface Amount {
  /** Files, folders and whatever else has a name. */
  entries: number;
  /** Of the files. */
  bytes: number;
}

/** Others may have made deeper ones than code can; each is held open while what is in it is looked at. */
const deepest = 128;
/** Longer than any write takes. */
const abandonedAfterMs = 120_000;

/** The entries by name, each folder's own directly after it. */
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

/** What is in a folder, or as much of it as is more than `enough`. Removes what writers that died have left. */
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

/** A folder that cannot be opened, or is gone, keeps nobody from writing elsewhere. */
function measureInside(folder: Folder, name: string, enough: Amount, depth: number): Amount {
  try {
    using inner = folder.enter(name);
    return measure(inner, enough, depth);
  } catch {
    return { entries: 0, bytes: 0 };
  }
}

/** Removes the entry with all that is in it, a link without what it leads to; what is gone then. */
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
