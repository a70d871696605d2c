/** The skills of the workspace, for whoever looks for something to call: what each exports, and what it does. */
import { toIdentifier } from "../registry/names.ts";
import { exportsOf, type SkillExport } from "../sandbox/code/skill-exports.ts";
import type { Mounts } from "../sandbox/contract.ts";
import { Files } from "../sandbox/host/files.ts";

export interface Skill extends SkillExport {
  /** What it is imported from: `./skills/report`. */
  from: string;
}

/** Files that are read, and bytes of each: this is asked with every search. */
const maxFiles = 500;
const maxBytes = 262_144;

interface Known {
  stamp: string;
  exports: SkillExport[];
}

/** By workspace, so that only files that have changed are read again. */
const known = new Map<string, Map<string, Known>>();

/** In the order of their names. Never throws: a folder that cannot be read has no skills. */
export function listSkills(mounts: Mounts): Skill[] {
  const { workspace } = mounts;
  const files = new Files(mounts);
  const ask = (operation: string, args: object) => JSON.parse(files.run(operation, JSON.stringify(args)));
  const { value: entries = [] } = ask("readdir", { path: "./workspace/skills", recursive: true });
  const before = known.get(workspace);
  const now = new Map<string, Known>();
  for (const { name, parent, kind } of entries.slice(0, maxFiles)) {
    if (kind !== "file" || !/\.(?:ts|js|mjs)$/.test(name) || name.endsWith(".d.ts")) continue;
    const file = parent === "" ? name : `${parent}/${name}`;
    const path = `./workspace/skills/${file}`;
    const { value: stats } = ask("stat", { path });
    if (!stats || stats.size > maxBytes) continue;
    const stamp = `${stats.size} ${stats.modifiedMs} ${stats.changedMs}`;
    const same = before?.get(file);
    const read = () => exportsOf(String(ask("readFile", { path, encoding: "utf8" }).value ?? ""));
    now.set(file, same?.stamp === stamp ? same : { stamp, exports: read() });
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

/** A default export without a name gets the file's. */
function skillOf(found: SkillExport, from: string): Skill {
  const local = toIdentifier(from.slice(from.lastIndexOf("/") + 1));
  return { ...found, from, signature: found.signature.replace(/^default\b/, local) };
}

function specifierOf(file: string): string {
  return `./skills/${file.replace(/(?:\/index)?\.ts$/, "")}`;
}
