/** Lists the skills of the workspace: what each exports, and what it does. */

import { kilobyte, megabyte } from "../../base/units.ts";
import { exportsOf, type SkillExport } from "../../sandbox/code/skill-exports.ts";
import type { Mounts } from "../../sandbox/contract.ts";
import type { FileStats } from "../../sandbox/guest/host.ts";
import { Files } from "../../sandbox/host/files.ts";
import type { TreeEntry } from "../../sandbox/host/filesystem/tree.ts";
import { toIdentifier } from "../names.ts";

/** Files of the workspace that are read for one search. */
const maxSkillFiles = 500;

/** Bytes of one such file. */
const maxSkillFileBytes = 256 * kilobyte;

/** Bytes that one search reads. The next search reads the rest. */
const maxSkillBytesAtOnce = 8 * megabyte;

export interface Skill extends SkillExport {
  /** The path to import: `./skills/report`. */
  from: string;
}

interface KnownSkill {
  stamp: string;
  exports: SkillExport[];
}

/** The files of each workspace that were read, so that only changed files are read again. */
const known = new Map<string, Map<string, KnownSkill>>();

/** The skills in the order of their names. Never throws: an unreadable folder has no skills. */
export function listSkills(mounts: Mounts): Skill[] {
  const { workspace } = mounts;
  const files = new Files(mounts);
  const { value = [] } = files.ask("readdir", { path: "./workspace/skills", recursive: true });
  const entries = value as TreeEntry[];
  const before = known.get(workspace);
  const now = new Map<string, KnownSkill>();
  let room = maxSkillBytesAtOnce;
  for (const { name, parent, kind } of entries.slice(0, maxSkillFiles)) {
    if (kind !== "file" || !/\.(?:ts|js|mjs)$/.test(name) || name.endsWith(".d.ts")) continue;
    const file = parent === "" ? name : `${parent}/${name}`;
    const path = `./workspace/skills/${file}`;
    const stats = files.ask("stat", { path }).value as FileStats | undefined;
    if (!stats || stats.size > maxSkillFileBytes) continue;
    const stamp = `${stats.size} ${stats.mtimeMs} ${stats.ctimeMs}`;
    const same = before?.get(file);
    if (same?.stamp === stamp) {
      now.set(file, same);
      continue;
    }
    room -= stats.size;
    if (room < 0) continue;
    now.set(file, { stamp, exports: exportsOf(String(files.ask("readFile", { path, encoding: "utf8" }).value ?? "")) });
  }
  known.set(workspace, now);
  return [...now].flatMap(([file, { exports }]) => exports.map((each) => skillOf(each, specifierOf(file))));
}

/** `skills/report.topCustomers`. */
export function skillId({ from, name }: Skill): string {
  return `${from.replace(/^\.\//, "")}.${name}`;
}

/** The import that code needs to call it. */
export function importOf({ name, from, signature }: Skill): string {
  const local = /^[\w$]+/.exec(signature)?.[0] ?? "skill";
  return `import ${name === "default" ? local : `{ ${name} }`} from ${JSON.stringify(from)}`;
}

/** A default export without a name gets the name of its file. */
function skillOf(found: SkillExport, from: string): Skill {
  const local = toIdentifier(from.slice(from.lastIndexOf("/") + 1));
  return { ...found, from, signature: found.signature.replace(/^default\b/, local) };
}

function specifierOf(file: string): string {
  return `./skills/${file.replace(/(?:\/index)?\.ts$/, "")}`;
}
