/**
 * The skills that agents may read (MCP extension `io.modelcontextprotocol/skills`): how to use claudikins, and one skill for each
 * module of functions that was saved in the workspace.
 */

import { oneLine } from "../../base/visible-text.ts";
import type { Mounts } from "../../sandbox/contract.ts";
import { skillText } from "../../tools/registry/hook-texts.ts";
import { listSkills, type Skill } from "../../tools/search/skills.ts";
import { firstSentence } from "../../tools/signature.ts";

/** The name of our own skill. */
const ownName = "claudikins";

/** Characters of a skill's name, as the Agent Skills format allows. */
const maxSkillNameChars = 64;

/** Characters of the description of a skill: agents load it for each skill before they read one. */
const maxSkillSentenceChars = 200;

/** Characters of the names of a skill's exports in its description. */
const maxSkillExportsChars = 200;

/** The text of each SKILL.md by its URI. Without a workspace, there is only our own. */
export function servedSkills(mounts: Mounts | undefined): Map<string, string> {
  const modules = Map.groupBy(mounts ? listSkills(mounts) : [], ({ from }) => from);
  const names = uniqueNames([...modules.keys()]);
  const saved = [...modules].map(([from, skills], at): [string, string] => {
    const name = names[at]!;
    return [addressOf(`workspace/${name}`), moduleText(name, from, skills)];
  });
  return new Map([[addressOf(ownName), skillText], ...saved]);
}

const addressOf = (path: string) => `skill://${path}/SKILL.md`;

/** The path of the skill that has this URI: `workspace/report`. */
export function pathOf(address: string): string {
  return address.slice("skill://".length, -"/SKILL.md".length);
}

/** Names that the format allows: `./skills/stats/topCustomers` → `stats-top-customers`. */
function uniqueNames(modules: readonly string[]): string[] {
  const taken = new Set([ownName]);
  return modules.map((from) => {
    const plain = nameOf(from);
    let name = plain;
    for (let count = 2; taken.has(name); count++)
      name = `${plain.slice(0, maxSkillNameChars - 4)}-${count}`.replace(/-+/g, "-");
    taken.add(name);
    return name;
  });
}

function nameOf(from: string): string {
  const words = from
    .slice("./skills/".length)
    .replace(/([a-z0-9])([A-Z])/g, "$1-$2")
    .toLowerCase()
    .match(/[a-z0-9]+/g);
  return (words?.join("-") ?? "skill").slice(0, maxSkillNameChars).replace(/-$/, "");
}

function moduleText(name: string, from: string, skills: readonly Skill[]): string {
  const about = skills.map(({ description }) => description).find(Boolean) ?? "";
  const exported = oneLine(skills.map((skill) => localName(skill)).join(", "), maxSkillExportsChars);
  const description = oneLine(
    `${firstSentence(about, maxSkillSentenceChars)} Saved code for execute_code: ${exported} in ${from}`,
    1_000,
  );
  const declared = skills.flatMap((skill) => [
    "",
    ...(skill.description ? [`// ${oneLine(skill.description, maxSkillSentenceChars)}`] : []),
    oneLine(skill.signature, 400),
  ]);
  // JSON strings are strings of YAML as well.
  return `---
name: ${JSON.stringify(name)}
description: ${JSON.stringify(description.toWellFormed())}
---

# ${oneLine(from, 200)}

Code that was saved in the workspace of claudikins. Import it in a program for \`execute_code\`:

\`\`\`ts
${importsOf(from, skills)}
${declared.join("\n")}
\`\`\`
`.toWellFormed();
}

/** One import of all exports: `import stats, { byMonth } from "./skills/stats"`. */
function importsOf(from: string, skills: readonly Skill[]): string {
  const named = skills.filter(({ name }) => name !== "default").map(({ name }) => name);
  const main = skills.find(({ name }) => name === "default");
  const parts = [...(main ? [localName(main)] : []), ...(named.length > 0 ? [`{ ${named.join(", ")} }`] : [])];
  return oneLine(`import ${parts.join(", ")} from ${JSON.stringify(from)}`, 4_000);
}

/** A default export has the name that its signature begins with. */
function localName({ name, signature }: Skill): string {
  return name === "default" ? (/^[\w$]+/.exec(signature)?.[0] ?? "skill") : name;
}
