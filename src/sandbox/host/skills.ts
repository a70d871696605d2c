/** A skill of the workspace, `./workspace/skills/<name>.ts`, as the body of a function that fills its exports. */
import { CheckError } from "../check-error.ts";
import type { Files } from "./files.ts";

/** Rejects with what the code is to be told: `{ code, message, hint? }`. */
export async function loadSkill(name: string, files: Files): Promise<string> {
  const path = `./workspace/skills/${name}.ts`;
  const answer = JSON.parse(files.run("readFile", JSON.stringify({ path, encoding: "utf8" })));
  if (answer.error) {
    throw {
      code: "MODULE_NOT_FOUND",
      message: `There is no skill "${name}"`,
      hint: `Write it to ${path} first, as a module with exports. (${answer.error.message})`,
    };
  }
  // Loaded with the first skill: every worker would wait for it else.
  const { transpile } = await import("../transpile.ts");
  try {
    return (await transpile(String(answer.value), "module")).code;
  } catch (error) {
    if (!(error instanceof CheckError)) throw { code: "MODULE_INVALID", message: `The skill "${name}" cannot be read` };
    const { message, line, column } = error.error;
    throw { code: "MODULE_INVALID", message: `${path}:${line}:${column}: ${message}` };
  }
}
