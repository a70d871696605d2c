/** Reads the user's own config, which counts beside the config of a project. */
import { readIfThere } from "../base/files.ts";
import type { Environment } from "./environment.ts";
import { userConfigFile } from "./locations.ts";
import type { ParsedConfig } from "./parse.ts";
import { type ParseOptions, parsedConfig } from "./plain-config.ts";
import { enabledServers } from "./trust/marks.ts";

/** Returns undefined if there is no file. Throws CONFIG_INVALID. */
export async function readUserConfig(env: Environment, options?: ParseOptions): Promise<ParsedConfig | undefined> {
  const file = userConfigFile(env);
  const text = readIfThere(file);
  return text === undefined ? undefined : parsedConfig(text, file, options);
}

/** The user's own servers beside the config of a project, by name. */
export interface OwnServers {
  /** They are used in the project as well. */
  added: string[];
  /** They are not, because the project has servers with their names. */
  replaced: string[];
}

/** Throws CONFIG_INVALID if the user's own config cannot be read. */
export async function ownServersBeside(project: ParsedConfig, env: Environment): Promise<OwnServers> {
  const user = project.extends === "user" ? await readUserConfig(env) : undefined;
  const names = user ? enabledServers(user).map(([name]) => name) : [];
  const { added = [], replaced = [] } = Object.groupBy(names, (name) =>
    project.servers.has(name) ? "replaced" : "added",
  );
  return { added, replaced };
}
