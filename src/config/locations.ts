/**
 * The paths of files and folders: the user's config and data folders by the XDG Base Directory Specification, the folders of a
 * config, and the programs on the PATH.
 */

import { accessSync, constants, existsSync, readdirSync, realpathSync, statSync } from "node:fs";
import { basename, delimiter, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { projectDataFolder } from "../base/open-folder.ts";
import { sha256 } from "../base/sha256.ts";
import type { Environment } from "./environment.ts";
import type { Person } from "./oidc.ts";

export const configFileName = "claudikins.json";

/** The user's own config file. It is used if no project config is found. */
export function userConfigFile(env: Environment): string {
  return join(xdgFolder(env, "XDG_CONFIG_HOME", ".config"), "claudikins", configFileName);
}

/** The user's data folder. It holds everything that does not belong to a project. */
export function userDataFolder(env: Environment): string {
  return join(xdgFolder(env, "XDG_DATA_HOME", ".local", "share"), "claudikins");
}

const inDataFolder = (name: string) => (env: Environment) => join(userDataFolder(env), name);

/** The file with the OAuth tokens of servers, for all projects of the user. */
export const credentialsFile = inDataFolder("credentials.json");

/** The file with the names of the user's secrets, and with the values that are in no keychain. */
export const secretsFile = inDataFolder("secrets.json");

/** The folder with the credentials of people. */
export const peopleFolder = inDataFolder("people");

/** The file with the sealed credentials of a person who has signed in with a config. Its folder has nothing else but its locks. */
export function personCredentialsFile(
  { config, person }: { config: string; person: string },
  env: Environment,
): string {
  return join(peopleFolder(env), sha256(config).slice(0, 16), person, "credentials.json");
}

/** The file with the token of `serve --http`. It is used if no other token is given. */
export const httpTokenFile = inDataFolder("http-token");

/** The file with the digests of the tokens of `serve --http` that the user has made, for all configs. */
export const tokensFile = inDataFolder("tokens.json");

/** The database of executions and their records, approvals, and counts, for all projects of the user. */
export const storeFile = inDataFolder("executions.sqlite");

/** A file that is written with every change of a saved program. */
export const savedProgramsMark = inDataFolder(join("programs", "changed"));

/** A name for a config that no other one has: `shop-1f0c52b9`, `user` or `demo`. */
export function configName(origin: Origin): string {
  return origin.kind === "project" ? workspaceName(dirname(origin.file)) : origin.kind;
}

/** The folder with earlier executables, which continue programs that they have stored. */
export const keptExecutablesFolder = inDataFolder("executables");

/** The folder with what `claudikins upgrade` remembers. */
export const upgradeFolder = inDataFolder("upgrade");

/** The folder with the accepted definitions of tools: a file for each server of each config. */
export const definitionsFolder = inDataFolder("definitions");

/** The folder with the unpacked bundles, one for each entry. */
export const bundlesFolder = inDataFolder("bundles");

/** The lock for changes of accepted definitions. */
export const definitionsLock = inDataFolder(join("definitions", ".lock"));

/** The name of the file with the fingerprints of accepted definitions, beside a config file. */
export const definitionsLockName = "claudikins.lock";

/** The folder with the logs of servers (their stderr, starts and ends), for all projects of the user. */
export const logsFolder = inDataFolder("logs");

/** The folder with the compiled descriptions of web APIs. */
export const sourcesFolder = inDataFolder("sources");

/** The folder with the last failures to connect to servers. */
export const failuresFolder = inDataFolder("failures");

/** The file with the project configs that the user trusts. */
export const trustFile = inDataFolder("trust.json");

/** The file that lists the registries and workspaces outside of the usual folders. */
export const writtenFoldersFile = inDataFolder("written-folders");

export interface Folders {
  /** The folder of the generated files and the search index. */
  registry: string;
  /** The only folder that sandboxed code may write to. */
  workspace: string;
  /** The part of each path that may lead through links. Below it links are refused, because a repository can contain links. */
  bases: { registry: string; workspace: string };
  /** What replicas call the workspace, see `sharedNameOf`. */
  workspaceName: string;
}

export type Origin = { kind: "project" | "user"; file: string } | { kind: "demo" };

interface Chosen {
  registry?: string | undefined;
  workspace?: string | undefined;
}

/**
 * Returns the registry and the workspace of a config. A project's folders are beside its config file, in `.claudikins/`. The user's
 * config and the demo's serve all projects: their registry is in the data folder, and each project has its own workspace there, so
 * that files written in one project do not appear in another. A door has its own of both. Paths in the config have precedence;
 * relative ones are resolved against the config file.
 */
export function foldersOf(
  origin: Origin,
  chosen: Chosen,
  { env, cwd, door }: { env: Environment; cwd: string; door?: string | undefined },
): Folders {
  const ofDoor = door === undefined ? [] : ["doors", door];
  const folder = (name: "registry" | "workspace"): { path: string; base: string } => {
    const own = chosen[name];
    if (own && origin.kind !== "demo") {
      const path = resolve(dirname(origin.file), own);
      return { path, base: baseOfChosen(path, origin) };
    }
    if (origin.kind === "project") {
      const project = dirname(origin.file);
      return { path: join(project, projectDataFolder, ...ofDoor, name), base: project };
    }
    const data = userDataFolder(env);
    const home = origin.kind === "demo" ? join(data, "demo") : data;
    const inHome = name === "registry" ? name : join("workspaces", workspaceName(projectFolder({ cwd, env })));
    return { path: join(home, ...ofDoor, inHome), base: data };
  };
  const [registry, workspace] = [folder("registry"), folder("workspace")];
  return {
    registry: registry.path,
    workspace: workspace.path,
    bases: { registry: registry.base, workspace: workspace.base },
    workspaceName: sharedNameOf(workspace.path, origin.kind === "demo" ? undefined : origin.file, env),
  };
}

/**
 * A name for a folder that is the same on all replicas: its path. Replicas may have data folders at different places, so that the name of a
 * folder in there is the config and the path below the data folder.
 */
export function sharedNameOf(path: string, file: string | undefined, env: Environment): string {
  const data = userDataFolder(env);
  return path.startsWith(join(data, sep)) ? `${file ?? "demo"}: ${relative(data, path)}` : path;
}

/**
 * Returns the part of a chosen path that may lead through links. A folder outside of the project was chosen by the user and may be
 * a link. Inside the project, anybody may have made the link.
 */
export function baseOfChosen(path: string, origin: Origin): string {
  if (origin.kind !== "project") return path;
  const project = dirname(origin.file);
  return path.startsWith(join(project, sep)) ? project : path;
}

/**
 * Returns the nearest folder at or above `cwd` that has a config or a repository, or else `cwd`. The home folder is never a
 * project.
 */
export function projectFolder({ cwd, env }: { cwd: string; env: Environment }): string {
  const home = homeOf(env);
  for (let folder = resolve(cwd); folder !== home; folder = dirname(folder)) {
    if ([configFileName, ".git"].some((name) => existsSync(join(folder, name)))) return folder;
    if (folder === dirname(folder)) break;
  }
  return resolve(cwd);
}

/** Returns a name such as `shop-1f0c52b9`: the name of the folder for people, and eight characters of a hash to keep it unique. */
function workspaceName(project: string): string {
  const real = realOf(project);
  const name = basename(real)
    .replace(/[^\p{L}\p{N}._-]+/gu, "-")
    .replace(/^[.-]+/, "")
    .slice(0, 40);
  return `${name || "folder"}-${sha256(real).slice(0, 8)}`;
}

/** Resolves links, even if the end of the path does not exist yet. */
export function realOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path === dirname(path) ? path : join(realOf(dirname(path)), basename(path));
  }
}

/** Returns a folder of the XDG Base Directory Specification, which requires that relative paths in the variables are ignored. */
export function xdgFolder(env: Environment, variable: string, ...standard: string[]): string {
  const chosen = env[variable];
  return chosen && isAbsolute(chosen) ? chosen : join(homeOf(env), ...standard);
}

/**
 * Returns the user's home folder. A relative path is ignored: it would make the working directory the place of the user's own
 * files.
 */
export function homeOf(env: Environment): string {
  return [env["HOME"], env["USERPROFILE"]].find((path) => path && isAbsolute(path)) ?? "/";
}

/** Returns the paths of the programs with that name in the order of the PATH, without duplicates through links. */
export function programsOnPath(name: string, env: Environment): string[] {
  const folders = (env["PATH"] ?? env["Path"] ?? "").split(delimiter).filter(isAbsolute);
  const names = process.platform === "win32" ? [".exe", ".cmd"].map((ending) => name + ending) : [name];
  const found = folders.flatMap((folder) => names.map((each) => join(folder, each))).filter(isProgram);
  const real = found.map(realOf);
  return found.filter((_, place) => real.indexOf(real[place] ?? "") === place);
}

/** Returns whether the path is a file that may be run. */
export function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** The folder of one person, beside the folder of everybody. */
export function personFolder(shared: string, { id }: Pick<Person, "id">): string {
  return join(`${shared}${suffix}`, id);
}

const suffix = "-people";

/** The existing folders of a person, beside these folders and beside others in the same place, such as the folders of other doors. */
export function foldersOfPerson(shared: readonly string[], { id }: Pick<Person, "id">): string[] {
  const places = new Set(shared.map(dirname));
  const found = [...places].flatMap((place) => foldersIn(place).map((name) => join(place, name)));
  return found
    .filter((folder) => folder.endsWith(suffix) && foldersIn(folder).includes(id))
    .map((folder) => join(folder, id))
    .sort();
}

/** The names of the folders in a folder. A folder that cannot be read has none. */
function foldersIn(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
  } catch {
    return [];
  }
}
