/** Doctor check of the skill and the sections in agents' files: whether they are of this version, and whether a plugin has the skill as well. */
import { type AgentFile, allAgentFiles, type SkillScope, skillState } from "../../setup/agents/skill-files.ts";
import { agents, agentsHere } from "../../setup/agents/supported/agents.ts";
import { type CheckContext, type Finding, findingsOf } from "./finding.ts";

const { ok, warning } = findingsOf("skills");

export function skillFindings(scene: CheckContext): Finding[] {
  const found = allAgentFiles(scene).flatMap((file) => {
    const findings = findingOf(file);
    return findings.length > 0 ? [...findings, ...loadedTwice(file, scene)] : [];
  });
  return found.length > 0
    ? found
    : [ok("skills.none", "No agent has the skill. To install it: claudikins skill install")];
}

function findingOf(file: AgentFile & { scope: SkillScope }): Finding[] {
  const id = `${file.kind}.${file.scope}.${file.hosts[0]}`;
  const isSection = file.kind === "section";
  const what = isSection ? "The claudikins section" : "The skill";
  switch (skillState(file)) {
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

/** Reports the agents whose plugin brings the skill as well. A project's skill is also there for people without the plugin. */
function loadedTwice({ kind, scope, path, hosts }: AgentFile & { scope: SkillScope }, scene: CheckContext): Finding[] {
  if (kind !== "skill" || scope === "project") return [];
  const readers = agents.filter(({ name }) => hosts.includes(name));
  const others = agentsHere(scene).filter((agent) => readers.includes(agent) && !agent.plugin?.(scene));
  return readers.flatMap((agent) => {
    const plugin = agent.plugin?.(scene);
    if (!plugin) return [];
    const id = `skill.${agent.name}.twice`;
    const text = `${agent.title} loads the skill twice: from its ${plugin.kind}, and from ${path}`;
    // Without the file, the others would not have the skill.
    if (others.length > 0) return [ok(id, `${text}, which ${others.map(({ title }) => title).join(" and ")} can read`)];
    return [warning(id, text, `claudikins skill remove --host ${agent.name}`)];
  });
}
