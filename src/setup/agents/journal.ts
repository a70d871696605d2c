/** The list of changes to the agents' files, with a copy of each original, so that every byte can be restored. */
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { ClaudikinsError } from "../../base/errors.ts";
import { isAbandoned, makeFolder, namesIn, readIfThere, removeFile } from "../../base/files.ts";
import { parsedJson, valueAt } from "../../base/json-object.ts";
import { withLock } from "../../base/lock.ts";
import { isNewer, writtenByNewer } from "../../base/newer.ts";
import type { Environment } from "../../config/environment.ts";
import { hashOf, writeThrough } from "../../config/file-text.ts";
import { userDataFolder } from "../../config/locations.ts";
import type { AgentName } from "./supported/model.ts";

/** One changed file. It is recorded before the file is written; the file's hash tells whether it was written. */
export interface JournalEntry {
  id: string;
  host: AgentName;
  /** The path that the agent uses. */
  file: string;
  /** The path without links. */
  path: string;
  /** Milliseconds since 1970. */
  at: number;
  mode: number;
  /** The file did not exist before. */
  isNew?: boolean;
  before: string;
  after: string;
}

export class Journal {
  readonly #folder: string;

  constructor(env: Environment) {
    this.#folder = join(userDataFolder(env), "hosts");
  }

  /** The changes, oldest first. Throws CONFIG_INVALID if the list is damaged, VERSION_TOO_OLD. */
  get changes(): JournalEntry[] {
    const text = readIfThere(this.#file);
    if (text === undefined) return [];
    const document = parsedJson(text);
    const changes = valueAt(document, ["changes"]);
    if (valueAt(document, ["version"]) === 1 && Array.isArray(changes) && changes.every(isChange)) return changes;
    if (isNewer(document, 1)) throw writtenByNewer("the list of changed files");
    throw new ClaudikinsError("CONFIG_INVALID", `${this.#file} is damaged`, {
      hint: `The original files are in ${join(this.#folder, "before")}.`,
    });
  }

  /** Runs `work` while no other claudikins process changes the agents' files. Throws what `work` throws. */
  async alone<T>(work: () => T | Promise<T>): Promise<T> {
    return withLock(join(this.#folder, "lock"), "the list of changed files", work);
  }

  /** Keeps a copy of the file and records the change that is about to be made. */
  add(change: Omit<JournalEntry, "id" | "at" | "before" | "after">, before: Buffer, after: Buffer): void {
    const { changes } = this;
    const at = Date.now();
    const id = `${at}-${changes.length}-${basename(change.path)}`;
    makeFolder(join(this.#folder, "before"), 0o700);
    writeThrough(this.#copyOf(id), before, 0o600);
    this.#write([...changes, { ...change, id, at, before: hashOf(before), after: hashOf(after) }]);
  }

  /** The original file. Throws FILE_NOT_FOUND if the copy is missing or was changed. */
  copyOf({ id, before, file }: JournalEntry): Buffer {
    const path = this.#copyOf(id);
    const bytes = existsSync(path) ? readFileSync(path) : undefined;
    if (bytes && hashOf(bytes) === before) return bytes;
    const what = `The copy of the original ${file} ${bytes ? "was changed" : "is missing"}`;
    throw new ClaudikinsError("FILE_NOT_FOUND", what, {
      hint: `Put the original file at ${path} and run the command again, or edit ${file} by hand.`,
    });
  }

  /** Forgets a change that was undone or never made. */
  remove(id: string): void {
    this.#write(this.changes.filter((change) => change.id !== id));
    removeFile(this.#copyOf(id));
  }

  #write(changes: JournalEntry[]): void {
    writeThrough(this.#file, Buffer.from(`${JSON.stringify({ version: 1, changes }, null, 2)}\n`), 0o600);
  }

  get #file(): string {
    return join(this.#folder, "changes.json");
  }

  #copyOf(id: string): string {
    return join(this.#folder, "before", id);
  }
}

function isChange(value: unknown): value is JournalEntry {
  const { id, host, file, path, before, after } = (value ?? {}) as Record<string, unknown>;
  const texts = [id, host, file, path, before, after];
  return texts.every((text) => typeof text === "string") && basename(String(id)) === id;
}

/** Removes temporary files that a killed claudikins process left beside a file. */
export function removeAbandoned(path: string): void {
  const folder = dirname(path);
  for (const name of namesIn(folder)) {
    if (name.startsWith(`${basename(path)}.`) && isAbandoned(name)) removeFile(join(folder, name));
  }
}
