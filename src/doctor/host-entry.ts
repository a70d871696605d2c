/** Doctor check of our entry in an agent's file: the program exists and is this version of claudikins. */
import { existsSync } from "node:fs";
import { basename, isAbsolute } from "node:path";
import type { FoundFile } from "../agents/find-servers.ts";
import { claudikinsName, commandLineOf } from "../agents/supported/claudikins-entry.ts";
import { selfCommand } from "../config/self.ts";
import { type JsonObject, objectAt } from "../json-object.ts";
import { parseFile } from "../settings/edit/editor.ts";
import { version } from "../version.ts";
import { ownProgram } from "./executable.ts";
import { type Finding, findingsOf, type Scene } from "./finding.ts";
import { programsOnPath, realOf, versionOf } from "./programs.ts";

const { ok, warning, problem } = findingsOf("hosts");

/** One finding for each entry of claudikins. */
export function entryFindings(found: FoundFile, scene: Scene): Promise<Finding>[] {
  const document = parseFile(found.content.text, found.file);
  return found.own.map(({ section, name }) => findingOf(found, objectAt(document, [...section, name]), scene));
}

async function findingOf({ host, file }: FoundFile, raw: JsonObject, scene: Scene): Promise<Finding> {
  const id = `host.${host.name}${file.scope === "project" ? ".project" : ""}`;
  const shown = `${host.title} (${file.path})`;
  const repair = `In ${file.path}, set the command to: ${selfCommand("serve").join(" ")}`;
  if (raw["disabled"] === true || raw["enabled"] === false) {
    return warning(id, `${shown} has claudikins, but it is disabled`, `Enable it in ${file.path}.`);
  }
  const words = commandLineOf(raw);
  const [program = ""] = words;
  const path = isAbsolute(program) ? program : programsOnPath(program, scene.env)[0];
  if (path === undefined) {
    return problem(id, `${shown} starts ${program}, which is not on the PATH`, "FILE_NOT_FOUND", repair);
  }
  const source = sourceIn(words);
  const gone = [path, ...(source === undefined ? [] : [source])].find((each) => !existsSync(each));
  if (gone !== undefined)
    return problem(id, `${shown} starts a file that does not exist: ${gone}`, "FILE_NOT_FOUND", repair);
  const config = words.includes("--config") ? words[words.indexOf("--config") + 1] : undefined;
  if (config !== undefined && isAbsolute(config) && !existsSync(config)) {
    return problem(id, `${shown} names a config file that does not exist: ${config}`, "CONFIG_NOT_FOUND", repair);
  }
  if (realOf(source ?? path) === realOf(ownProgram)) return ok(id, `${shown} starts this claudikins`);
  if (source !== undefined) return warning(id, `${shown} starts claudikins from another source: ${source}`, repair);
  // A package runner chooses the version itself.
  if (!basename(path).startsWith(claudikinsName)) return ok(id, `${shown} starts claudikins through ${program}`);
  // A program named in a project's file is not started, because the file may not be the user's.
  if (file.scope === "project" && !programsOnPath(basename(path), scene.env).includes(path)) {
    return warning(id, `${shown} starts a program that is not on the PATH and was not checked: ${path}`, repair);
  }
  const other = await versionOf(path, scene.env, scene.signal);
  if (other === version) return ok(id, `${shown} starts claudikins ${version}: ${path}`);
  return warning(id, `${shown} starts another claudikins (${other ?? "unknown version"}): ${path}`, repair);
}

/** The main file of a source checkout, if the entry starts one. */
function sourceIn(words: string[]): string | undefined {
  return words.find((word, place) => place > 0 && isAbsolute(word) && /[\\/]src[\\/]main\.ts$/.test(word));
}
