/** The input of a saved program from the words of a command line. */
import type { JsonObject } from "../../base/json-object.ts";
import { inputOf, valuesOf } from "../../programs/saved/given.ts";
import type { SavedProgram } from "../../programs/saved/model.ts";
import { readGiven } from "../call/call-words.ts";
import type { Io } from "../io.ts";

/** Throws USAGE, FILE_NOT_FOUND and INVALID_ARGUMENTS. */
export async function inputFrom(words: string[], program: SavedProgram, io: Io): Promise<JsonObject> {
  return inputOf(await readGiven(words, undefined, io), program);
}

/** Values that become inputs. Throws USAGE and FILE_NOT_FOUND. */
export async function valuesFrom(words: string[], io: Io): Promise<JsonObject> {
  return valuesOf(await readGiven(words, undefined, io));
}
