/** Loads a skill (a module of the workspace) or a generated file, as the body of a function that fills its exports. */
import { posix } from "node:path";
import { CheckError } from "../code/check-error.ts";
import { exportsOf } from "../code/skill-exports.ts";
import type { Files } from "./files.ts";

/** The file endings that are tried after the name of a module. */
const endings = [".ts", "/index.ts", ".js", ".mjs", "/index.js"];

/** Transpiled skills that a worker keeps. Beyond it, all are dropped and transpiled again when they are imported. */
const maxTranspiledSkills = 100;

/** Skills that are read for their exports, when an error lists what could have been imported. */
const maxReadSkills = 8;

/** The modules that this worker has transpiled, by path: it takes 1 to 5 ms each. A changed source is transpiled again. */
const transpiled = new Map<string, { source: string; code: string }>();

/**
 * Returns the transpiled code of a module. `name` is a path relative to `./workspace/skills`, which may leave that folder, or the
 * path that a program on disk uses for a generated file: `path:./.claudikins/registry/…`. Rejects with `{ code, message, hint? }`
 * for the program.
 */
export async function loadSkill(name: string, files: Files, registry: string): Promise<string> {
  const { path, source } = find(name.startsWith("path:") ? generatedName(name.slice(5), registry) : name, files);
  const known = transpiled.get(path);
  if (known?.source === source) return known.code;
  // Loaded with the first skill. Otherwise every worker would have to wait for it at its start.
  const { transpile } = await import("../code/transpile.ts");
  try {
    const { code } = await transpile(source, path);
    if (transpiled.size === maxTranspiledSkills) transpiled.clear();
    transpiled.set(path, { source, code });
    return code;
  } catch (error) {
    if (!(error instanceof CheckError)) throw { code: "MODULE_INVALID", message: `./${path} cannot be read` };
    const { message, line, column } = error.error;
    throw { code: "MODULE_INVALID", message: `./${path}:${line}:${column}: ${message}` };
  }
}

/** Returns the name of a generated file for `find`. The program must not learn where the registry folder is. */
function generatedName(specifier: string, registry: string): string {
  const folder = registry.replaceAll("\\", "/");
  const path = specifier.startsWith("file:") ? Bun.fileURLToPath(specifier) : specifier;
  const parts = path
    .replaceAll("\\", "/")
    .replace(/^(?:\.{1,2}\/|@\/|~\/)+/, "")
    .replace(/\.[cm]?[jt]s$/, "")
    .replace(/\/index$/, "")
    .split("/");
  for (let count = parts.length - 1; count > 0; count--) {
    const head = parts.slice(0, count).join("/");
    if (head === folder || (head !== "" && !head.startsWith("/") && folder.endsWith(`/${head}`))) {
      return posix.join("../../registry", ...parts.slice(count));
    }
  }
  throw { code: "NOT_IN_REGISTRY", message: specifier };
}

function find(name: string, files: Files): { path: string; source: string } {
  const base = posix.join("workspace/skills", name);
  let problem: string | undefined;
  for (const ending of endings) {
    const path = base + ending;
    const { value, error } = files.ask("readFile", { path: `./${path}`, encoding: "utf8" });
    if (!error) return { path, source: String(value) };
    problem ??= error.code === "ENOENT" ? `no file ./${path}` : error.message;
  }
  if (base.startsWith("registry/")) {
    throw {
      code: "MODULE_NOT_FOUND",
      message: `There is no generated file ./${base}.ts: ${problem}`,
      hint: "Generated files are ./registry/<category>/<server>/<tool>.ts; ./servers/<server> has the same functions.",
    };
  }
  throw {
    code: "MODULE_NOT_FOUND",
    message: `There is no skill "${name}": ${problem}`,
    hint: `${skillsText(files)} Save one first: await fs.writeFile("./${base}.ts", "export function name() { … }").`,
  };
}

/** Returns a list such as `Saved skills: by_month (byMonth(orders: Order[])).` */
function skillsText(files: Files): string {
  const { value = [] } = files.ask("readdir", { path: "./workspace/skills" });
  const names = (value as { name: string }[])
    .filter(({ name }) => name.endsWith(".ts"))
    .map(({ name }) => name.slice(0, -".ts".length));
  if (names.length === 0) return "There are no skills yet.";
  const shown = names.slice(0, maxReadSkills).map((name) => `${name} (${exportsText(name, files)})`);
  const more = names.length > maxReadSkills ? `, ${names.slice(maxReadSkills, 30).join(", ")}` : "";
  return `Saved skills: ${shown.join("; ")}${more}.`;
}

/** Returns the signatures of the exports of a skill. */
function exportsText(name: string, files: Files): string {
  const { value = "" } = files.ask("readFile", { path: `./workspace/skills/${name}.ts`, encoding: "utf8" });
  const signatures = exportsOf(String(value)).map(({ signature }) => signature);
  return signatures.join(", ") || "no exports";
}
