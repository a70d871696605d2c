/** New and changed files, as events. The files are compared with what the trigger has noted, so that changes are also found after a restart. */
import { lstat } from "node:fs/promises";
import { join } from "node:path";
import type { OfferedEvent } from "./event-queue.ts";
import type { FileSource, Trigger, Triggers } from "./stored-triggers.ts";

/** Files that one trigger can watch. The others are left out, and the log says so. */
export const maxWatchedFiles = 2_000;

/** Files that are looked at together. */
const filesAtOnce = 50;

export type FileTrigger = Trigger & { on: FileSource };

interface FileLook {
  /** Changes when the file does. */
  look: string;
  size: number;
  modifiedAt: number;
}

export class ChangedFiles {
  readonly #triggers: Triggers;
  /** The looks that files had the last time, by the trigger. A file that still changes is not complete. */
  readonly #last = new Map<string, Map<string, string>>();

  constructor(triggers: Triggers) {
    this.#triggers = triggers;
  }

  /** Notes the files that are there when a trigger is added: they are no events, and later ones are, whenever a process looks first. */
  async noteFirst(trigger: FileTrigger): Promise<void> {
    const { files } = await filesOf(trigger.on);
    await this.#triggers.noteFiles(trigger.id, looksOf(files));
  }

  /**
   * Gives each file that is new or was changed, and does not change any more, to `put`, and notes it once `put` has kept it. The files that are
   * there when the trigger is added are no events. Returns whether there are more files than can be watched.
   */
  async look(trigger: FileTrigger, put: (event: OfferedEvent) => Promise<boolean>): Promise<{ isFull: boolean }> {
    const { files, isFull } = await filesOf(trigger.on);
    const looks = looksOf(files);
    const before = this.#last.get(trigger.id);
    this.#last.set(trigger.id, looks);
    const noted = this.#triggers.seenFiles(trigger.id);
    if (!noted) {
      await this.#triggers.noteFiles(trigger.id, looks);
      return { isFull };
    }
    const next = new Map(noted);
    for (const path of noted.keys()) if (!files.has(path)) next.delete(path);
    for (const [path, file] of files) {
      const isSettled = before?.get(path) === file.look;
      if (noted.get(path) === file.look || !isSettled) continue;
      if (await put(eventOf(path, file, noted.has(path), trigger.on))) next.set(path, file.look);
    }
    if (isSame(next, noted)) return { isFull };
    await this.#triggers.noteFiles(trigger.id, next);
    return { isFull };
  }
}

function looksOf(files: ReadonlyMap<string, FileLook>): Map<string, string> {
  return new Map([...files].map(([path, { look }]) => [path, look]));
}

function eventOf(path: string, { look, size, modifiedAt }: FileLook, isKnown: boolean, { folder }: FileSource) {
  const change = isKnown ? "changed" : "new";
  return {
    name: `${path} ${look}`.slice(-300),
    content: { kind: "file", change, path, folder, size, modifiedAt: new Date(modifiedAt).toISOString() },
  };
}

/** Links are not followed. */
async function filesOf({ folder, pattern }: FileSource): Promise<{ files: Map<string, FileLook>; isFull: boolean }> {
  const paths: string[] = [];
  const glob = new Bun.Glob(pattern);
  try {
    for await (const path of glob.scan({ cwd: folder, onlyFiles: true, followSymlinks: false })) {
      paths.push(path);
      if (paths.length > maxWatchedFiles) break;
    }
  } catch {
    // The folder is missing.
  }
  const isFull = paths.length > maxWatchedFiles;
  const files = new Map<string, FileLook>();
  const wanted = paths.slice(0, maxWatchedFiles).sort();
  for (let at = 0; at < wanted.length; at += filesAtOnce) {
    const some = wanted.slice(at, at + filesAtOnce);
    const found = await Promise.all(some.map((path) => lookAt(join(folder, path))));
    for (const [place, look] of found.entries()) if (look) files.set(some[place]!, look);
  }
  return { files, isFull };
}

async function lookAt(file: string): Promise<FileLook | undefined> {
  try {
    const { mtimeMs, size, ino } = await lstat(file);
    return { look: `${mtimeMs} ${size} ${ino}`, size, modifiedAt: mtimeMs };
  } catch {
    // It was removed meanwhile.
    return undefined;
  }
}

function isSame(one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): boolean {
  return one.size === other.size && [...one].every(([path, look]) => other.get(path) === look);
}
