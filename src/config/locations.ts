/** Where things live: the user's config and data folders by the XDG base directory rules, and the paths of one config. */
import { dirname, isAbsolute, join, resolve } from "node:path";
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
}

/**
 * A project's folders stand beside its config file in `.claudikins/`; the user's and the demo's stand in the data
 * folder. Paths in the config win, relative ones counting from the config file.
 */
export function foldersOf(
  origin: { kind: "project" | "user"; file: string } | { kind: "demo" },
  chosen: { registry?: string | undefined; workspace?: string | undefined },
  env: Environment,
): Folders {
  const data = userDataFolder(env);
  const home =
    origin.kind === "project"
      ? join(dirname(origin.file), ".claudikins")
      : origin.kind === "demo"
        ? join(data, "demo")
        : data;
  const base = origin.kind === "demo" ? home : dirname(origin.file);
  return {
    registry: chosen.registry ? resolve(base, chosen.registry) : join(home, "registry"),
    workspace: chosen.workspace ? resolve(base, chosen.workspace) : join(home, "workspace"),
  };
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
