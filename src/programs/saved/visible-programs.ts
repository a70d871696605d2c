/** The saved programs that a caller may call: the caller's own, and those that the user shares with everybody. */
import { ClaudikinsError } from "../../base/errors.ts";
import { didYouMean } from "../../base/near-names.ts";
import type { SavedProgramsPlace } from "../../config/saved-programs-place.ts";
import { toIdentifier } from "../../tools/names.ts";
import { ownerIn } from "../execution/asker.ts";
import type { Parts } from "../parts.ts";
import { ProgramLibrary } from "./library.ts";
import { type SavedProgram, versionIn, versionName } from "./model.ts";
import type { RequestingProgram } from "./requesting-program.ts";

export class VisiblePrograms {
  readonly #own: ProgramLibrary;
  /** Undefined for the user, who owns what is shared. */
  readonly #shared: ProgramLibrary | undefined;

  /** `owner` is the key of a token or a person. Without it, the caller is the user or an agent of the user. */
  constructor(place: SavedProgramsPlace, owner: string | undefined) {
    this.#own = new ProgramLibrary(place, owner);
    this.#shared = owner === undefined ? undefined : new ProgramLibrary(place);
  }

  /** An own program comes before a shared one of the same name. Throws what `ProgramLibrary.all` throws. */
  find(name: string): SavedProgram | undefined {
    const own = this.#own.find(name);
    if (own) return own;
    const shared = this.#shared?.find(name);
    return shared && isShared(shared) ? shared : undefined;
  }

  /** By its name, or its name in code. Without a version, it is the newest one. Throws PROGRAM_NOT_FOUND, and what `find` throws. */
  called(name: string, version?: number): SavedProgram {
    const all = this.all();
    const newest =
      (versionIn(name) ? undefined : this.find(name)) ?? all.find((each) => toIdentifier(each.name) === name);
    if (newest && version !== undefined) return this.#required(newest, version);
    if (newest) return newest;
    const names = all.map((each) => each.name);
    const listed = names.length === 0 ? "No program is saved yet." : `Saved programs: ${names.join(", ")}`;
    const others = this.#shared
      ? " Programs of others can be called once an administrator has shared them: claudikins programs share"
      : "";
    throw new ClaudikinsError("PROGRAM_NOT_FOUND", `No saved program is called "${name}"`, {
      hint: `${didYouMean(name, names) ?? listed}${others}`,
    });
  }

  /** Throws PROGRAM_NOT_FOUND. */
  #required({ name, number }: SavedProgram, version: number): SavedProgram {
    const found = this.find(versionName(name, version));
    if (found) return found;
    throw new ClaudikinsError("PROGRAM_NOT_FOUND", `Version ${version} of "${name}" is not kept`, {
      hint: `It has version ${number} now.`,
    });
  }

  /** In the order of their names, without those that cannot be read. */
  all(): SavedProgram[] {
    const shared = this.#shared?.readable().filter(isShared) ?? [];
    const all = new Map([...shared, ...this.#own.readable()].map((each) => [each.name, each]));
    return [...all.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }
}

/** What an agent of the user has saved is for agents of the user: nobody has decided that others run it. */
function isShared({ savedBy }: SavedProgram): boolean {
  return savedBy === "user";
}

/** Whose programs a running program calls, or an agent without one: the key of a token or person, or undefined for the user. */
export function callerOwner(
  caller: Pick<RequestingProgram, "program" | "starter"> | undefined,
  { config }: Pick<Parts, "config">,
): string | undefined {
  if (caller?.program) return caller.program.owner;
  return ownerIn(caller?.starter) ?? (config.person && `person:${config.person.id}`);
}
