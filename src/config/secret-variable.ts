/** Settings of the environment that are secrets: a variable has the value, or another one the path of a file with it. */
import { readFileSync } from "node:fs";
import { ClaudikinsError, systemCodeOf } from "../base/errors.ts";
import type { Environment } from "./environment.ts";

/** How a variable is called, and what to do about a wrong one. The variable for a file has `_FILE` at its end. */
export interface SecretVariable {
  name: string;
  hint: string;
}

/** The value, and the variable that has it. Undefined without one. Throws CONFIG_INVALID and FILE_NOT_FOUND. No error has the value. */
export function secretOf(
  { name, hint }: SecretVariable,
  env: Environment,
): { value: string; variable: string } | undefined {
  const variable = `${name}_FILE`;
  const { [name]: given = "", [variable]: file = "" } = env;
  if (given !== "" && file !== "")
    throw new ClaudikinsError("CONFIG_INVALID", `${name} and ${variable} are both set`, { hint });
  if (file === "") return given === "" ? undefined : { value: given, variable: name };
  const value = contentOf(file, variable, hint);
  if (value === "") throw new ClaudikinsError("CONFIG_INVALID", `The file that ${variable} names is empty`, { hint });
  return { value, variable };
}

function contentOf(file: string, variable: string, hint: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch (error) {
    const why = systemCodeOf(error) ?? "unknown error";
    throw new ClaudikinsError("FILE_NOT_FOUND", `Cannot read the file that ${variable} names: ${why}`, { hint });
  }
}
