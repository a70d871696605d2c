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
    problem ??= answer.error.code === "ENOENT" ? `no file ./${path}` : answer.error.message;
  }
  throw {
    code: "MODULE_NOT_FOUND",
    message: `There is no skill "${name}": ${problem}`,
    hint: `${skillsText(files)} Save one first: await fs.writeFile("./${base}.ts", "export function name() { … }").`,
  };
}

/** Names of skills that are read for what they export. */
const maxRead = 8;

/** `Skills: by_month (export function byMonth(orders)).` */
function skillsText(files: Files): string {
  const { value } = JSON.parse(files.run("readdir", JSON.stringify({ path: "./workspace/skills" })));
  const names = (Array.isArray(value) ? value : [])
    .map((entry) => (typeof entry === "string" ? entry : String(entry?.name)))
    .filter((file) => file.endsWith(".ts"))
    .map((file) => file.slice(0, -".ts".length));
  if (names.length === 0) return "There are no skills yet.";
  const shown = names.slice(0, maxRead).map((name) => `${name} (${exportsOf(name, files)})`);
  const more = names.length > maxRead ? `, ${names.slice(maxRead, 30).join(", ")}` : "";
  return `Skills there are: ${shown.join("; ")}${more}.`;
}

/** The heads of what a skill exports, as they stand in it. */
function exportsOf(name: string, files: Files): string {
  const path = `./workspace/skills/${name}.ts`;
  const { value } = JSON.parse(files.run("readFile", JSON.stringify({ path, encoding: "utf8" })));
  const heads = String(value ?? "").matchAll(
    /^export\s+(?:default\s+)?(?:async\s+)?(?:function\*?\s+(\w+\s*\([^)]{0,80}\))|(?:const|let|class)\s+(\w+))/gm,
  );
  return [...heads].map(([, called, named]) => (called ?? named ?? "").replace(/\s+/g, " ")).join(", ") || "no exports";
}
