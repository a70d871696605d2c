/** A skill, which is a module of the workspace, as the body of a function that fills its exports. */
import { posix } from "node:path";
import { CheckError } from "../check-error.ts";
import type { Files } from "./files.ts";

/** What may stand behind the name of a module. */
const endings = [".ts", "/index.ts", ".js", ".mjs", "/index.js"];

/** By its name below `./workspace/skills`. Rejects with what the code is to be told: `{ code, message, hint? }`. */
export async function loadSkill(name: string, files: Files): Promise<string> {
  const { path, source } = find(name, files);
  // Loaded with the first skill: every worker would wait for it else.
  const { transpile } = await import("../transpile.ts");
  try {
    return (await transpile(source, path.slice("workspace/".length))).code;
  } catch (error) {
    if (!(error instanceof CheckError)) throw { code: "MODULE_INVALID", message: `The skill "${name}" cannot be read` };
    const { message, line, column } = error.error;
    throw { code: "MODULE_INVALID", message: `./${path}:${line}:${column}: ${message}` };
  }
}

function find(name: string, files: Files): { path: string; source: string } {
  const base = posix.join("workspace/skills", name);
  let problem: string | undefined;
  for (const ending of endings) {
    const path = base + ending;
    const answer = JSON.parse(files.run("readFile", JSON.stringify({ path: `./${path}`, encoding: "utf8" })));
    if (!answer.error) return { path, source: String(answer.value) };
    problem ??= answer.error.message;
  }
  throw {
    code: "MODULE_NOT_FOUND",
    message: `There is no skill "${name}"`,
    hint: `Write it to ./${base}.ts first, as a module with exports. (${problem})`,
  };
}
