/** The input of a saved program, and the values that become inputs, as a person writes them. */
import { ClaudikinsError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json-object.ts";
import { type ArgumentWord, argumentForms, argumentsOf } from "../argument-words.ts";
import type { SavedProgram } from "./model.ts";
import { callOf } from "./namespace.ts";

/** The input with the types of the program's schema. Throws INVALID_ARGUMENTS. */
export function inputOf(given: readonly ArgumentWord[], program: SavedProgram): JsonObject {
  const { args, problems } = argumentsOf(given, program.input);
  if (problems.length === 0) return { ...args };
  throw new ClaudikinsError("INVALID_ARGUMENTS", `${program.name}: ${problems.join("; ")}`, { hint: callOf(program) });
}

/** Values that become inputs: they have no schema yet. A text that is a number in JSON is one. Throws USAGE. */
export function valuesOf(given: readonly ArgumentWord[]): JsonObject {
  const { args, problems } = argumentsOf(given, { type: "object" });
  if (problems.length === 0) return { ...args };
  throw new ClaudikinsError("USAGE", problems.join("; "), { hint: argumentForms });
}
