/** Where things live: the user's config and data folders by the XDG base directory rules, and the paths of one config. */
import { existsSync, realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join, resolve, sep } from "node:path";
import type { Environment } from "./environment.ts";

export const configFileName = "claudikins.json";

/** The user's own config file, used when no project has one. */
export function userConfigFile(env: Environment): string {
  return join(xdgFolder(env, "XDG_CONFIG_HOME", ".config"), "claudikins", configFileName);
}

/** The user's data folder: registry and workspace for everything that is not a project's. */
export function userDataFolder(env: Environment): string {
  return join(xdgFolder(env, "XDG_DATA_HOME", ".local", "share"), "claudikins");
}

/** What is kept of sign-ins to servers, for all projects of the user. */
export function credentialsFile(env: Environment): string {
  return join(userDataFolder(env), "credentials.json");
}

/** The token that `serve --http` asks for if it is given none. */
export function httpTokenFile(env: Environment): string {
  return join(userDataFolder(env), "http-token");
}

/** What is counted of all calls, for all projects of the user. */
export function ledgerFolder(env: Environment): string {
  return join(userDataFolder(env), "ledger");
}

/** What executions did, for all projects of the user. */
export function executionsFolder(env: Environment): string {
  return join(userDataFolder(env), "executions");
}

/** What servers wrote on stderr, when they were started and how they ended, for all projects of the user. */
export function logsFolder(env: Environment): string {
  return join(userDataFolder(env), "logs");
}

/** The project configs that the user trusts. */
export function trustFile(env: Environment): string {
  return join(userDataFolder(env), "trust.json");
}

/** Where registries and workspaces are that stand in no usual place. */
export function writtenFoldersFile(env: Environment): string {
  return join(userDataFolder(env), "written-folders");
}

export interface Folders {
  /** Generated files about the servers' tools, and the search index. */
  registry: string;
  /** The one folder that sandboxed code may write to. */
  workspace: string;
  /** The part of each path that may lead through links: a repository can bring links along, but not above its own folder. */
  bases: { registry: string; workspace: string };
}

type Origin = { kind: "project" | "user"; file: string } | { kind: "demo" };

interface Chosen {
  registry?: string | undefined;
  workspace?: string | undefined;
}

/**
 * A project's folders stand beside its config file in `.claudikins/`. The user's and the demo's config serve all projects:
 * their registry stands in the data folder, and there each project has a workspace of its own, so that what code has written
 * in one is offered in no other. Paths in the config win, relative ones counting from the config file.
 */
export function foldersOf(origin: Origin, chosen: Chosen, { env, cwd }: { env: Environment; cwd: string }): Folders {
  const data = userDataFolder(env);
  const home = origin.kind === "demo" ? join(data, "demo") : data;
  const usual =
    origin.kind === "project"
      ? usualFolders(dirname(origin.file))
      : {
          registry: { path: join(home, "registry"), base: data },
          workspace: { path: join(home, "workspaces", workspaceName(projectFolder({ cwd, env }))), base: data },
        };
  const registry = chosenFolder(chosen.registry, origin) ?? usual.registry;
  const workspace = chosenFolder(chosen.workspace, origin) ?? usual.workspace;
  return {
    registry: registry.path,
    workspace: workspace.path,
    bases: { registry: registry.base, workspace: workspace.base },
  };
}

function usualFolders(project: string) {
  const folder = (name: string) => ({ path: join(project, ".claudikins", name), base: project });
  return { registry: folder("registry"), workspace: folder("workspace") };
}

function chosenFolder(chosen: string | undefined, origin: Origin): { path: string; base: string } | undefined {
  if (!chosen || origin.kind === "demo") return undefined;
  const path = resolve(dirname(origin.file), chosen);
  return { path, base: baseOfChosen(path, origin) };
}

/** A folder outside of the project is the user's own choice, and may be a link; one inside could be anybody's. */
export function baseOfChosen(path: string, origin: Origin): string {
  if (origin.kind !== "project") return path;
  const project = dirname(origin.file);
  return path.startsWith(join(project, sep)) ? project : path;
}

/** The workspace that all projects without a config of their own shared in earlier versions. */
export function sharedWorkspace(origin: Origin, env: Environment): string | undefined {
  if (origin.kind === "project") return undefined;
  return join(userDataFolder(env), ...(origin.kind === "demo" ? ["demo"] : []), "workspace");
}

/** The nearest folder upwards with a config or a repository; else the working directory. The home is no project. */
export function projectFolder({ cwd, env }: { cwd: string; env: Environment }): string {
  const home = homeOf(env);
  for (let folder = resolve(cwd); folder !== home; folder = dirname(folder)) {
    if ([configFileName, ".git"].some((name) => existsSync(join(folder, name)))) return folder;
    if (folder === dirname(folder)) break;
  }
  return resolve(cwd);
}

/** `shop-1f0c52b9`: the folder's name, which a person recognises, and eight characters that tell it from others of that name. */
function workspaceName(project: string): string {
  const real = realOf(project);
  const name = basename(real)
    .replace(/[^\p{L}\p{N}._-]+/gu, "-")
    .replace(/^[.-]+/, "")
    .slice(0, 40);
  const hash = new Bun.CryptoHasher("sha256").update(real).digest("hex").slice(0, 8);
  return `${name || "folder"}-${hash}`;
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** By the XDG rules a relative path in the variable does not count. */
export function xdgFolder(env: Environment, variable: string, ...standard: string[]): string {
  const chosen = env[variable];
  return chosen && isAbsolute(chosen) ? chosen : join(homeOf(env), ...standard);
}

/** A relative path does not count: the user's own files would be looked for in whatever folder somebody stands in. */
export function homeOf(env: Environment): string {
  return [env["HOME"], env["USERPROFILE"]].find((path) => path && isAbsolute(path)) ?? "/";
}
