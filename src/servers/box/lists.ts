/** The paths that an entry opens to its server. Refuses those that would open more than they say, now or later. */
import { resolve } from "node:path";
import { HeldPath } from "../../base/held-path.ts";
import { refuse, refuseClosed } from "../../config/box-places.ts";
import { type Guard, isRepositoryOf } from "../../config/guarded-places.ts";
import { homeOf } from "../../config/locations.ts";
import { missingFolder } from "../process/process-group.ts";
import { markOf, type Neighbour, startOf } from "./neighbours.ts";
import { programFiles } from "./programs.ts";

export interface OpenPaths {
  cwd: HeldPath;
  read: HeldPath[];
  write: HeldPath[];
  /** What is in the folders to write to and is mounted over them. */
  guards: Guard[];
  /** What any server may write to, its own too. */
  writable: HeldPath[];
  /** What the box shows to nobody, even if it is beside a program. */
  closed: HeldPath[];
}

/**
 * Opens the paths of a box, whose server is one of `all`. Paths to read that do not exist are left out. Throws CONFIG_INVALID for a path to write that
 * does not exist, for a place that no box opens, for a path through a folder that a server may write to, and for one with the program of a server.
 * Throws SERVER_UNAVAILABLE if there is no working directory. `held` gets everything that was opened.
 */
export function openPaths(own: Neighbour, all: readonly Neighbour[], held: HeldPath[]): OpenPaths {
  const open = (path: string) => {
    const found = new HeldPath(path);
    held.push(found);
    return found;
  };
  const { read: toRead = [], write: toWrite = [] } = own.server.box || {};
  if ([...toRead, ...toWrite].includes("")) {
    refuse("one of its paths", "is empty", 'Set its variable, or remove it from "sandbox".');
  }
  const { cwd, write, ...lists } = listed(own, open);
  const read = lists.read.filter(({ id }) => id !== undefined);
  if (cwd.id === undefined) throw missingFolder(own.cwd);
  const configs = [own, ...all].flatMap(({ server }) => server.definitions?.config ?? []);
  const { closed, guards } = refuseClosed({ read, write, cwd, configs: [...new Set(configs)] }, own.env, open);
  if (own.server.definitions) closed.push(open(own.server.definitions.config));
  const others = all
    .filter((each) => markOf(each) !== markOf(own))
    .map((each) => ({ ...each, write: listed(each, open).write }));
  const grounds = [{ ...own, write }, ...others].flatMap(({ server: { name }, write: folders }) =>
    folders.map((ground) => ({ ground, name, isOwn: name === own.server.name })),
  );
  for (const { ground, name } of grounds) if (cwd.hasLinkIn(ground)) refuse(cwd.asked, ...leadingThrough(ground, name));
  for (const path of [...write, ...read]) {
    // The same server may run in another working directory, with the same lists.
    const around = grounds.find(({ ground, isOwn }) =>
      (isOwn && !write.includes(ground)) || isRepositoryOf(ground, path)
        ? path.hasLinkIn(ground)
        : path.leadsThrough(ground),
    );
    if (around) refuse(path.asked, ...leadingThrough(around.ground, around.name));
  }
  const create = "Create it first: mkdir for a folder, touch for a file.";
  for (const path of write) if (path.id === undefined) refuse(path.asked, "does not exist", create);
  for (const other of others.filter(({ server }) => server.name !== own.server.name)) {
    for (const file of programsOf(other, open)) {
      const ground = write.find((each) => file.isWithin(each) || file.leadsThrough(each));
      const why = `gives write access to ${file.path}, which the server "${other.server.name}" starts`;
      if (ground) refuse(ground.asked, why, "Name other folders.");
    }
  }
  for (const file of programsOf({ ...own, cwd: cwd.path }, open)) {
    const around = grounds.find(({ ground, isOwn }) => !isOwn && file.leadsThrough(ground));
    if (around) refuse(file.asked, ...leadingThrough(around.ground, around.name));
  }
  return { cwd, read, write, guards, writable: grounds.map(({ ground }) => ground), closed };
}

/** The working directory and the lists of a server. Without a box, it has no lists. */
function listed({ server: { box }, env, cwd: folder }: Neighbour, open: (path: string) => HeldPath) {
  const cwd = open(resolve(folder));
  const home = homeOf(env);
  const opened = (paths: readonly string[] = []) =>
    [...new Set(paths)].map((path) => open(resolve(cwd.path, /^~(?:\/|$)/.test(path) ? home + path.slice(1) : path)));
  return { cwd, read: opened(box ? box.read : []), write: opened(box ? box.write : []) };
}

function programsOf({ server, env, cwd }: Neighbour, open: (path: string) => HeldPath): HeldPath[] {
  const declared = server.url === undefined ? server.env : {};
  return programFiles({ ...startOf(server), env: { PATH: env["PATH"] ?? "", ...declared } }, cwd).map(open);
}

function leadingThrough({ path }: HeldPath, server: string): [why: string, hint: string] {
  const why = `leads through ${path}, which the server "${server}" may write to, so that it could put a link there`;
  return [why, "Remove one of the two."];
}
