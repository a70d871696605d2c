/**
 * The saved programs of one owner in one config, or in one door of it: a JSON document for each. The user's are in a private folder.
 * The programs of all tokens and people are in a folder in it.
 */
import { join } from "node:path";
import type { DocumentChanges, DocumentLock } from "../../base/documents.ts";
import { ClaudikinsError } from "../../base/errors.ts";
import { isObject, parsedJson } from "../../base/json-object.ts";
import { didYouMean } from "../../base/near-names.ts";
import { isNewer, writtenByNewer } from "../../base/newer.ts";
import { sha256 } from "../../base/sha256.ts";
import { ownersFolder, type SavedProgramsPlace } from "../../config/saved-programs-place.ts";
import { problemOfName, type SavedProgram } from "./model.ts";

/** Saved programs of one config, or of one door. */
const maxSavedPrograms = 200;

const ending = ".json";

export class ProgramLibrary {
  readonly #place: SavedProgramsPlace;
  readonly #folder: string;
  /** How the names of the files begin. */
  readonly #prefix: string;

  /** `owner` is the key of a token or a person. Without it, the programs are the user's. */
  constructor(place: SavedProgramsPlace, owner?: string) {
    this.#place = place;
    this.#folder = owner === undefined ? place.folder : ownersFolder(place);
    this.#prefix = owner === undefined ? "" : `${sha256(owner).slice(0, ownerDigits)}.`;
  }

  /** In the order of their names. Throws FILE_NOT_FOUND, CONFIG_INVALID and VERSION_TOO_OLD for a file that cannot be read. */
  all(): SavedProgram[] {
    return this.names().map((name) => this.get(name));
  }

  /** Without the programs whose files cannot be read, so that one does not keep the others from agents. */
  readable(): SavedProgram[] {
    return this.names().flatMap((name) => {
      try {
        return [this.get(name)];
      } catch {
        return [];
      }
    });
  }

  names(): string[] {
    const files = this.#place.documents.namesIn(this.#folder);
    return files
      .filter((name) => name.startsWith(this.#prefix) && name.endsWith(ending))
      .map((name) => name.slice(this.#prefix.length, -ending.length))
      .filter((name) => problemOfName(name) === undefined);
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
    const text = this.#place.documents.read(file);
    if (text === undefined) return undefined;
    const value = parsedJson(text);
    if (isNewer(value, 1)) throw writtenByNewer(`the saved program "${name}"`);
    if (isProgram(value)) return { ...value, name };
    throw new ClaudikinsError("CONFIG_INVALID", `${file} is damaged: it has no saved program`, {
      hint: `Remove it, and save the program again: claudikins programs remove ${name}`,
    });
  }

  /**
   * Writes what `change` makes of the program of that name. It gets undefined if none is saved. Throws FILE_NOT_WRITABLE, USAGE if too many
   * programs are saved, and what `change` throws.
   */
  async change(
    name: string,
    change: (before: SavedProgram | undefined) => SavedProgram | Promise<SavedProgram>,
  ): Promise<void> {
    await this.#place.documents.alone(this.#lock, async (changes) => {
      const before = this.find(name);
      this.#write(name, await change(before), before === undefined, changes);
      tellOthers(this.#place, changes);
    });
  }

  #write(name: string, program: SavedProgram, isNew: boolean, changes: DocumentChanges): void {
    if (isNew && this.names().length >= maxSavedPrograms) {
      throw new ClaudikinsError("USAGE", `${maxSavedPrograms} programs are saved already`, {
        hint: "Remove one: claudikins programs remove NAME",
      });
    }
    changes.write(this.#fileOf(name), `${JSON.stringify(program, null, 1)}\n`);
  }

  /** Removes a file that may be damaged. Returns false if it does not exist. Throws FILE_NOT_WRITABLE. */
  async remove(name: string): Promise<boolean> {
    if (!this.names().includes(name)) return false;
    await this.#place.documents.alone(this.#lock, (changes) => {
      changes.remove(this.#fileOf(name));
      tellOthers(this.#place, changes);
    });
    return true;
  }

  get #lock(): DocumentLock {
    return { folder: this.#folder, lock: join(this.#folder, ".lock"), what: "the saved programs" };
  }

  #fileOf(name: string): string {
    return join(this.#folder, `${this.#prefix}${name}${ending}`);
  }
}

/** Enough digits for no two owners to have the same. */
const ownerDigits = 32;

/** The programs of all tokens and people. Programs that cannot be read are left out. */
export function programsOfOthers(place: SavedProgramsPlace): SavedProgram[] {
  const { documents } = place;
  const folder = ownersFolder(place);
  return documents.namesIn(folder).flatMap((file) => {
    const value = file.endsWith(ending) ? parsedJson(documents.read(join(folder, file)) ?? "") : undefined;
    return isProgram(value) && !isNewer(value, 1) && value.owner ? [value] : [];
  });
}

/** Lets running processes know that a program or a schedule has changed. Throws FILE_NOT_WRITABLE. */
export function tellOthers({ mark }: Pick<SavedProgramsPlace, "mark">, changes: DocumentChanges): void {
  changes.write(mark, `${Date.now()}.${crypto.randomUUID()}\n`);
}

/** A text that changes when a program changes. */
export function digestOf(program: SavedProgram): string {
  const { code, input, output, calls } = program;
  return sha256(JSON.stringify([code, input, output ?? null, calls]));
}

function isProgram(value: unknown): value is SavedProgram {
  if (!isObject(value)) return false;
  const { version, description, code, input, calls, savedAt, savedBy } = value;
  const areTexts = [description, code, savedBy].every((each) => typeof each === "string");
  const isListed = Array.isArray(calls) && calls.every((each) => typeof each === "string");
  return version === 1 && areTexts && isObject(input) && isListed && typeof savedAt === "number";
}
