/**
 * The saved programs of one owner in one config, or in one door of it: a JSON document for each. Those of the user are in a private folder,
 * and the programs of tokens and people in a folder in it.
 */
import { join } from "node:path";
import type { DocumentChanges, DocumentLock } from "../../base/documents.ts";
import { ClaudikinsError } from "../../base/errors.ts";
import { isObject, parsedJson } from "../../base/json-object.ts";
import { didYouMean } from "../../base/near-names.ts";
import { isNewer, writtenByNewer } from "../../base/newer.ts";
import { sha256 } from "../../base/sha256.ts";
import { ownersFolder, type SavedProgramsPlace } from "../../config/saved-programs-place.ts";
import { problemOfName, type SavedProgram, versionIn } from "./model.ts";

/** Saved programs of one config, or of one door. */
const maxSavedPrograms = 200;

/** Earlier versions that are kept of a program. The oldest are removed first. */
const maxEarlierVersions = 20;

/** Characters of the earlier versions of a program, because a replica has all documents of a database in memory. */
const maxEarlierChars = 500_000;

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

  /** The name may be that of a version. Throws what `all` throws. */
  find(name: string): SavedProgram | undefined {
    const version = versionIn(name);
    if (version) return this.version(version.name, version.number);
    if (problemOfName(name) !== undefined) return undefined;
    return this.#read(this.#fileOf(name), name);
  }

  /** Undefined if it is not kept. Throws what `all` throws. */
  version(name: string, number: number): SavedProgram | undefined {
    const current = this.find(name);
    if (!current || current.number === number) return current;
    return this.#read(this.#versionFile(name, number), name);
  }

  /** The versions of a program that are kept, newest first. Throws PROGRAM_NOT_FOUND, and what `all` throws. */
  versions(name: string): SavedProgram[] {
    const earlier = this.#earlier(name).flatMap((number) => this.version(name, number) ?? []);
    return [this.get(name), ...earlier];
  }

  /** The version that schedules and triggers run. Throws PROGRAM_NOT_FOUND, and what `all` throws. */
  accepted(name: string): SavedProgram {
    const { number, accepted = number } = this.get(name);
    return this.requireVersion(name, accepted);
  }

  /** Throws PROGRAM_NOT_FOUND, and what `all` throws. */
  requireVersion(name: string, number: number): SavedProgram {
    const current = this.get(name);
    const found = this.version(name, number);
    if (found) return found;
    throw new ClaudikinsError("PROGRAM_NOT_FOUND", `Version ${number} of "${name}" is not kept`, {
      hint: `It has version ${current.number} now. To list its versions: claudikins programs history ${name}`,
    });
  }

  /** The numbers of the earlier versions, newest first. */
  #earlier(name: string): number[] {
    const [start, end] = [`${this.#prefix}${name}.`, ending];
    const files = this.#place.documents.namesIn(this.#versionsFolder);
    return files
      .filter((file) => file.startsWith(start) && file.endsWith(end))
      .map((file) => Number(file.slice(start.length, -end.length)))
      .filter((number) => Number.isSafeInteger(number))
      .sort((one, other) => other - one);
  }

  #read(file: string, name: string): SavedProgram | undefined {
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
      const program = await change(before);
      this.#write(name, program, before === undefined, changes);
      if (before && before.number !== program.number) this.#keepEarlier(before, program, changes);
      tellOthers(this.#place, changes);
    });
  }

  /** Keeps the version before, and removes the oldest ones that are too many. The accepted one stays. */
  #keepEarlier(before: SavedProgram, { accepted }: SavedProgram, changes: DocumentChanges): void {
    const { name, number } = before;
    const text = textOf(before);
    changes.write(this.#versionFile(name, number), text);
    let chars = text.length;
    for (const [at, each] of this.#earlier(name)
      .filter((each) => each !== number)
      .entries()) {
      const file = this.#versionFile(name, each);
      chars += this.#place.documents.read(file)?.length ?? 0;
      const isTooMuch = at + 1 >= maxEarlierVersions || chars > maxEarlierChars;
      if (isTooMuch && each !== accepted) changes.remove(file);
    }
  }

  #write(name: string, program: SavedProgram, isNew: boolean, changes: DocumentChanges): void {
    if (isNew && this.names().length >= maxSavedPrograms) {
      throw new ClaudikinsError("USAGE", `${maxSavedPrograms} programs are saved already`, {
        hint: "Remove one: claudikins programs remove NAME",
      });
    }
    changes.write(this.#fileOf(name), textOf(program));
  }

  /** Removes a program, whose file may be damaged, with all its versions. Returns false if it does not exist. Throws FILE_NOT_WRITABLE. */
  async remove(name: string): Promise<boolean> {
    if (!this.names().includes(name)) return false;
    await this.#place.documents.alone(this.#lock, (changes) => {
      changes.remove(this.#fileOf(name));
      for (const number of this.#earlier(name)) changes.remove(this.#versionFile(name, number));
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

  get #versionsFolder(): string {
    return join(this.#folder, "versions");
  }

  #versionFile(name: string, number: number): string {
    return join(this.#versionsFolder, `${this.#prefix}${name}.${number}${ending}`);
  }
}

function textOf(program: SavedProgram): string {
  return `${JSON.stringify(program, null, 1)}\n`;
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
  const { version, description, code, input, calls, number, savedAt, savedBy } = value;
  const areTexts = [description, code, savedBy].every((each) => typeof each === "string");
  const isListed = Array.isArray(calls) && calls.every((each) => typeof each === "string");
  const areNumbers = [number, savedAt].every((each) => typeof each === "number");
  return version === 1 && areTexts && isObject(input) && isListed && areNumbers;
}
