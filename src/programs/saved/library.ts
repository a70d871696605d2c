/** The saved programs of one config, or of one door of it: a private folder with a JSON file for each. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { ClaudikinsError } from "../../base/errors.ts";
import { namesIn, readIfThere, removeFile, removeIfEmpty, writeWhenChanged } from "../../base/files.ts";
import { isObject } from "../../base/json-object.ts";
import { withLock } from "../../base/lock.ts";
import { didYouMean } from "../../base/near-names.ts";
import { isNewer, writtenByNewer } from "../../base/newer.ts";
import type { SavedProgramsPlace } from "../../config/locations.ts";
import { maxSavedPrograms } from "../limits.ts";
import { problemOfName, type SavedProgram } from "./model.ts";

const ending = ".json";

export class ProgramLibrary {
  readonly #place: SavedProgramsPlace;

  constructor(place: SavedProgramsPlace) {
    this.#place = place;
  }

  /** In the order of their names. Throws FILE_NOT_FOUND, CONFIG_INVALID and VERSION_TOO_OLD for a file that cannot be read. */
  all(): SavedProgram[] {
    return this.names().map((name) => this.get(name));
  }

  names(): string[] {
    const files = namesIn(this.#place.folder).filter((name) => name.endsWith(ending));
    return files.map((name) => name.slice(0, -ending.length)).filter((name) => problemOfName(name) === undefined);
  }

  /** Throws PROGRAM_NOT_FOUND, and what `all` throws. */
  get(name: string): SavedProgram {
    const program = this.find(name);
    if (program) return program;
    const names = this.names();
    const all = names.length === 0 ? "No program is saved yet." : `Saved programs: ${names.join(", ")}`;
    throw new ClaudikinsError("PROGRAM_NOT_FOUND", `No saved program is called "${name}"`, {
      hint: didYouMean(name, names) ?? all,
    });
  }

  /** Throws what `all` throws. */
  find(name: string): SavedProgram | undefined {
    if (problemOfName(name) !== undefined) return undefined;
    const file = this.#fileOf(name);
    const text = readIfThere(file);
    if (text === undefined) return undefined;
    const value = parsed(text);
    if (isNewer(value, 1)) throw writtenByNewer(`the saved program "${name}"`);
    if (isProgram(value)) return { ...value, name };
    throw new ClaudikinsError("CONFIG_INVALID", `${file} is damaged: it has no saved program`, {
      hint: `Remove it, and save the program again: claudikins programs remove ${name}`,
    });
  }

  /**
   * Writes what `change` makes of the program of that name. It gets undefined if none is saved, and returns undefined to remove it. Throws
   * FILE_NOT_WRITABLE, USAGE if too many programs are saved, and what `change` throws.
   */
  async change(name: string, change: (before: SavedProgram | undefined) => SavedProgram | undefined): Promise<void> {
    const { folder, mark } = this.#place;
    await withLock(join(folder, ".lock"), "the saved programs", () => {
      const before = this.find(name);
      const after = change(before);
      if (after) this.#write(name, after, before === undefined);
      else removeFile(this.#fileOf(name));
      // Running processes look at this file.
      writeWhenChanged(mark, `${Date.now()}.${crypto.randomUUID()}\n`, undefined, 0o600);
    });
  }

  #write(name: string, program: SavedProgram, isNew: boolean): void {
    if (isNew && this.names().length >= maxSavedPrograms) {
      throw new ClaudikinsError("USAGE", `${maxSavedPrograms} programs are saved already`, {
        hint: "Remove one: claudikins programs remove NAME",
      });
    }
    writeWhenChanged(this.#fileOf(name), `${JSON.stringify(program, null, 1)}\n`, undefined, 0o600);
  }

  /** Removes a file that may be damaged. Returns false if it does not exist. Throws FILE_NOT_WRITABLE. */
  async remove(name: string): Promise<boolean> {
    if (!this.names().includes(name)) return false;
    await this.change(name, () => undefined).catch((error: unknown) => {
      if (!(error instanceof ClaudikinsError) || error.code !== "CONFIG_INVALID") throw error;
      removeFile(this.#fileOf(name));
    });
    removeIfEmpty(this.#place.folder);
    return true;
  }

  #fileOf(name: string): string {
    return join(this.#place.folder, `${name}${ending}`);
  }
}

/** A text that changes when a program changes. */
export function digestOf(program: SavedProgram): string {
  const { code, input, output, calls } = program;
  return createHash("sha256")
    .update(JSON.stringify([code, input, output ?? null, calls]))
    .digest("hex");
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isProgram(value: unknown): value is SavedProgram {
  if (!isObject(value)) return false;
  const { version, description, code, input, calls, savedAt, savedBy } = value;
  const areTexts = [description, code, savedBy].every((each) => typeof each === "string");
  const isListed = Array.isArray(calls) && calls.every((each) => typeof each === "string");
  return version === 1 && areTexts && isObject(input) && isListed && typeof savedAt === "number";
}
