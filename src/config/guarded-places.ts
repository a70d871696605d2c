/** Places in folders to write to that run or count outside of boxes later. A box shows them read-only. */
import { mkdirSync } from "node:fs";
import { basename, dirname, join, relative, sep } from "node:path";
import type { HeldPath } from "../base/held-path.ts";
import { projectDataFolder } from "../base/open-folder.ts";
import { configFileName, definitionsLockName } from "./locations.ts";

/** Settings of claudikins, agents and editors, and programs that git and shells run by themselves. */
const ofProject = [
  ...[configFileName, definitionsLockName, join(projectDataFolder, "registry")],
  ...[".mcp.json", ".claude", ".codex", ".cursor", ".gemini", ".vscode", ".opencode", "opencode.json", ".zed", ".idea"],
  ...[".github/mcp.json", ".agents", ".kiro", ".crush.json", "crush.json", ".amp", ".qwen", ".roo", ".cline"],
  ...[".envrc", ".husky", ".githooks"],
];

/**
 * Files in git's folder that git runs, or that lead it to other settings. A server whose list names the folder may write to the rest of it.
 */
const ofGit = ["hooks", "config", "config.worktree", "commondir", "modules", "worktrees"];

/** `pin` is a folder around a `guard`: it can be written to, and cannot be moved away with what it holds. */
export interface Guard {
  kind: "guard" | "pin";
  held: HeldPath;
}

interface Guarded {
  /** All that the server may write to. */
  writable: readonly HeldPath[];
  /** Folders of projects. Folders outside of the one to write to do not matter. */
  projects: readonly HeldPath[];
  /** Other files and folders. Missing ones, and ones outside of the folder to write to, do not matter. */
  named: readonly HeldPath[];
  /** Folders in which commands are found. They are made if they do not exist, because the server could make them. */
  commands: readonly HeldPath[];
}

type Refuse = (path: string, why: string, hint: string) => never;

/** Returns what must be mounted over a folder to write to. Refuses the folder if that is not possible. */
export function guardsIn(
  ground: HeldPath,
  { writable, projects, named, commands }: Guarded,
  { open, refuse }: { open: (path: string) => HeldPath; refuse: Refuse },
): Guard[] {
  const isItself = named.some(({ id }) => id !== undefined && id === ground.id) || isGuarded(ground);
  if (isItself) refuse(ground.asked, "counts outside of sandboxes", "Name other files and folders.");
  const isInside = (place: HeldPath) => place.id !== undefined && place.id !== ground.id && place.isWithin(ground);
  const made = (place: HeldPath) => {
    if (place.id !== undefined || !place.isWithin(ground) || place.hasLinkIn(ground)) return place;
    makeFolder(place.path);
    const folder = open(place.path);
    if (folder.id === undefined) refuse(place.asked, "does not exist and cannot be made", "Make the folder yourself.");
    return folder;
  };
  const folders = [ground, ...projects.filter(isInside)];
  const git = folders.map(({ path }) => open(join(path, ".git")));
  const isOpened = (folder: HeldPath) => folder.isFolder && writable.some(({ id }) => id === folder.id);
  const ofRepositories = [...git, ...(basename(ground.path) === ".git" ? [ground] : [])].flatMap((folder) => {
    if (!isOpened(folder)) return folder;
    const [hooks, ...others] = ofGit.map((name) => open(join(folder.path, name)));
    return [...(hooks ? [made(hooks)] : []), ...others];
  });
  const places = [
    ...named,
    ...commands.map(made),
    ...ofRepositories,
    ...folders.flatMap(({ path }) => ofProject.map((name) => open(join(path, name)))),
  ];
  const link = [...git, ...places].find((place) => place.hasLinkIn(ground));
  if (link) refuse(ground.asked, `has a link on the way to ${link.asked}, which could be replaced`, "Remove the link.");
  const inside = places.filter(isInside);
  // A folder around one place may be in another.
  const pins = inside
    .flatMap(({ path }) => foldersBetween(ground.path, path).map(open))
    .filter((folder) => !inside.some((place) => folder.isWithin(place)));
  return [...guardsOf(inside, "guard"), ...guardsOf(pins, "pin")];
}

const guardsOf = (places: readonly HeldPath[], kind: Guard["kind"]) => places.map((held) => ({ kind, held }));

/** Whether the place to write to is one of these places itself. */
function isGuarded({ path, isFolder }: HeldPath): boolean {
  const inGit = basename(dirname(path)) === ".git" && ofGit.includes(basename(path));
  return inGit || (basename(path) === ".git" && !isFolder) || ofProject.some((name) => path.endsWith(sep + name));
}

/** Whether it is the repository of the folder, which no server can replace: each box with the folder guards it. */
export function isRepositoryOf(ground: HeldPath, { path, around }: HeldPath): boolean {
  return basename(path) === ".git" && around.at(-1) === ground.id;
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true });
  } catch {
    // The caller sees that it is missing.
  }
}

function foldersBetween(folder: string, path: string): string[] {
  const names = relative(folder, path).split(sep);
  return names.slice(1).map((_, count) => join(folder, ...names.slice(0, count + 1)));
}
