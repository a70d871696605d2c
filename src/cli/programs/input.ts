/** The input of a saved program from the words of a command line. */
import { ClaudikinsError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json-object.ts";
import { argumentForms, argumentsOf } from "../../programs/call-arguments.ts";
import type { SavedProgram } from "../../programs/saved/model.ts";
import { callOf } from "../../programs/saved/namespace.ts";
import { readGiven } from "../call-words.ts";
import type { Io } from "../io.ts";

/** Throws USAGE, FILE_NOT_FOUND and INVALID_ARGUMENTS. */
export async function inputFrom(words: string[], program: SavedProgram, io: Io): Promise<JsonObject> {
  const { args, problems } = argumentsOf(await readGiven(words, undefined, io), program.input);
  if (problems.length === 0) return { ...args };
  throw new ClaudikinsError("INVALID_ARGUMENTS", `${program.name}: ${problems.join("; ")}`, { hint: callOf(program) });
}

/** Values that become inputs: they have no schema yet. A text that is a number in JSON is one. */
export async function valuesFrom(words: string[], io: Io): Promise<JsonObject> {
  const { args, problems } = argumentsOf(await readGiven(words, undefined, io), { type: "object" });
  if (problems.length === 0) return { ...args };
  throw new ClaudikinsError("USAGE", problems.join("; "), { hint: argumentForms });
}
