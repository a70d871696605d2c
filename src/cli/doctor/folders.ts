/** Doctor check of the folders that claudikins writes to, and of the free disk space. */
import { accessSync, constants, existsSync, statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { systemCodeOf } from "../../base/errors.ts";
import { linkOnTheWay } from "../../base/guarded-folders.ts";
import { shellWord } from "../../base/shell-word.ts";
import { megabyte } from "../../base/units.ts";
import { userDataFolder } from "../../config/locations.ts";
import { type CheckContext, type CheckParts, type Finding, findingsOf } from "./finding.ts";

/** With less free space, a tool result that is written to the workspace may not fit. */
const minFreeBytes = 100 * megabyte;

const { ok, warning, problem } = findingsOf("folders");

export function folderFindings({ config }: CheckParts, { env }: CheckContext): Finding[] {
  const { registry, workspace, bases } = config.folders;
  const data = userDataFolder(env);
  return [
    folderFinding("folder.registry", "The registry", registry, bases.registry),
    folderFinding("folder.workspace", "The workspace", workspace, bases.workspace),
    folderFinding("folder.data", "The data folder", data),
    ...spaceFindings(freeBytes(workspace), workspace),
  ];
}

/** Whether a link is on the way to the registry or the workspace. */
export function hasLinkedFolder({ config: { folders } }: CheckParts): boolean {
  const { bases } = folders;
  return (["registry", "workspace"] as const).some((name) => linkOnTheWay(folders[name], bases[name]) !== undefined);
}

/** Checks one folder. Links below `base` are a problem. */
function folderFinding(id: string, what: string, path: string, base = path): Finding {
  const link = linkOnTheWay(path, base);
  if (link !== undefined) {
    const text = `${what} is not used, because ${link} is a symbolic link: claudikins follows no links inside a project`;
    return problem(id, text, "FILE_NOT_WRITABLE", `rm ${shellWord(link)}`);
  }
  const there = nearest(path);
  if (!statSync(there).isDirectory()) {
    const text = `${what} cannot be created, because there is a file in its place: ${there}`;
    return problem(id, text, "FILE_NOT_WRITABLE", `mv ${shellWord(there)} ${shellWord(`${there}.old`)}`);
  }
  const code = codeOfWriting(there);
  if (code !== undefined) return notWritable(id, `${what} is not writable`, there, code);
  return ok(id, there === path ? `${what}: ${path}` : `${what} is created when it is needed: ${path}`);
}

/** The nearest existing folder of the path. */
function nearest(path: string): string {
  for (let at = path; ; at = dirname(at)) if (existsSync(at) || at === dirname(at)) return at;
}

/** The code of the system's refusal, or undefined if the folder can be written to. */
function codeOfWriting(folder: string): string | undefined {
  try {
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    return systemCodeOf(error) ?? "";
  }
}

/** Rights help only where the disk can be written to and the folder belongs to the user. */
function notWritable(id: string, what: string, folder: string, code: string): Finding {
  const elsewhere = id === "folder.data" ? "Set XDG_DATA_HOME" : `Set "${id.slice("folder.".length)}" in the config`;
  const repair = `${elsewhere} to a folder that you can write to.`;
  if (code === "EROFS") {
    return problem(id, `${what}, because its file system is read-only: ${folder}`, "FILE_NOT_WRITABLE", repair);
  }
  if (process.getuid && statSync(folder).uid !== process.getuid()) {
    return problem(id, `${what}, because it belongs to another user: ${folder}`, "FILE_NOT_WRITABLE", repair);
  }
  return problem(id, `${what}: ${folder}`, "FILE_NOT_WRITABLE", `chmod u+rwx ${shellWord(folder)}`);
}

/** Undefined if the system does not tell. */
function freeBytes(path: string): number | undefined {
  try {
    const { bavail, bsize, blocks } = statfsSync(nearest(path));
    return blocks > 0 ? bavail * bsize : undefined;
  } catch {
    return undefined;
  }
}

export function spaceFindings(free: number | undefined, path: string): Finding[] {
  if (free === undefined || free >= minFreeBytes) return [];
  const text = `The workspace's disk has only ${Math.floor(free / megabyte)} MB left: ${path}`;
  return [warning("folder.space", text, 'Free some space there, or set "workspace" in the config to another disk.')];
}
