/** Doctor check of the skill and the sections in agents' files: whether they are of this version. */
import { type AgentFile, allAgentFiles, type Scope, stateOf } from "../agents/skill-files.ts";
import { type Finding, findingsOf, type Scene } from "./finding.ts";

const { ok, warning } = findingsOf("skills");

export function skillFindings(scene: Scene): Finding[] {
  const found = allAgentFiles(scene).flatMap(findingOf);
  return found.length > 0
    ? found
    : [ok("skills.none", "No agent has the skill. To install it: claudikins skill install")];
}

function findingOf(file: AgentFile & { scope: Scope }): Finding[] {
  const id = `${file.kind}.${file.scope}.${file.hosts[0]}`;
  const isSection = file.kind === "section";
  const what = isSection ? "The claudikins section" : "The skill";
  switch (stateOf(file)) {
    case "current":
      return [ok(id, `${what} is up to date: ${file.path}`)];
    case "older": {
      const flags = `${file.scope === "project" ? " --project" : ""}${isSection ? " --claude-md" : ""}`;
      const repair = `claudikins skill install --host ${file.hosts[0]}${flags}`;
      return [warning(id, `${what} is from another version: ${file.path}`, repair)];
    }
    case "changed":
      if (!isSection) return [ok(id, `The skill was edited by hand and is left unchanged: ${file.path}`)];
      return [
        warning(
          id,
          `The claudikins section has lost a marker and is no longer updated: ${file.path}`,
          'Delete the lines with "claudikins begin" and "claudikins end" and everything between them.',
        ),
      ];
    default:
      return [];
  }
}
