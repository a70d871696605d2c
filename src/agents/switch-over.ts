/** Plans `init`: the servers of all agents go into a config, and the agents get claudikins in their place. */
import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import type { Environment } from "../config/environment.ts";
import type { Config } from "../config/load.ts";
import { configFileName, projectFolder, userConfigFile } from "../config/locations.ts";
import { selfCommand } from "../config/self.ts";
import { ClaudikinsError } from "../errors.ts";
import type { PortableEntry } from "../settings/config-file.ts";
import { type ConfigFile, configAsText, openConfigFile, withServer } from "../settings/config-file.ts";
import { shellWord } from "../shell-word.ts";
import { settleByWishes, type Wishes } from "./choices.ts";
import { type Found, type FoundFile, type FoundServer, findServers } from "./find-servers.ts";
import { type Inventory, merge } from "./merge.ts";
import { configWords, noProjectConfig, projectConfigFile } from "./project-config.ts";
import { type Rewired, type RewireOptions, rewire } from "./rewire.ts";
import { claudikinsName } from "./supported/claudikins-entry.ts";
import type { Host, Surroundings } from "./supported/model.ts";

export interface Survey {
  found: Found;
  /** The user's first. */
  inventories: Inventory[];
}

export interface SurveyOptions extends Surroundings {
  /** Include the files of the project around the working directory. */
  project: boolean;
  /** The config that the user named: for the project's servers with `project`, else for all servers. */
  config?: string | undefined;
  /** Agents that the user named. */
  named?: ReadonlySet<string>;
  wishes: Wishes;
}

/** Compares the agents' servers with the configs. Throws USAGE, CONFIG_INVALID, and CONFIG_NOT_FOUND for a project without a config. */
export async function takeSurvey(hosts: readonly Host[], options: SurveyOptions): Promise<Survey> {
  const found = await findServers(hosts, options);
  const ofUser = found.files.filter(({ file }) => file.scope === "user");
  const userFile = openConfigFile({
    ...options,
    flag: options.project ? undefined : options.config,
    user: options.project || options.config === undefined,
  });
  const inventories = [inventoryOf(ofUser, userFile)];
  for (const [path, files] of byProjectConfig(found, options)) {
    inventories.push(inventoryOf(files, openConfigFile({ ...options, flag: path })));
  }
  settleByWishes(inventories, options.wishes);
  return { found, inventories };
}

function byProjectConfig({ files }: Found, options: SurveyOptions): Map<string, FoundFile[]> {
  const { env, cwd, config } = options;
  const named = config === undefined ? undefined : resolve(cwd, config);
  const configs = new Map<string, FoundFile[]>();
  const homeless: FoundFile[] = [];
  for (const found of files) {
    const { scope, folder } = found.file;
    if (scope === "user" || folder === undefined) continue;
    const path = projectConfigFile({ folder, named, env });
    if (path !== undefined) configs.set(path, [...(configs.get(path) ?? []), found]);
    else if (found.servers.length > 0) homeless.push(found);
  }
  if (homeless.length > 0) {
    const suggestion = join(projectFolder({ cwd: homeless[0]?.file.folder ?? cwd, env }), configFileName);
    throw noProjectConfig(
      homeless.map(({ file, servers }) => ({ path: file.path, servers: servers.length })),
      shellWord(relative(cwd, suggestion) || suggestion),
    );
  }
  return configs;
}

function inventoryOf(files: FoundFile[], configFile: ConfigFile): Inventory {
  const asInConfig = (server: FoundServer) => {
    const { entry, folder } = server;
    const isShared = files.some(({ file }) => file.path === server.file && file.scope === "project");
    return isShared && folder !== undefined ? fromConfig(entry, folder, dirname(configFile.file)) : entry;
  };
  const servers = files.flatMap((file) => file.servers);
  const merged = merge(
    servers.map((server) => ({ ...server, entry: asInConfig(server) })),
    configFile.entries,
    configFile.file,
  );
  return { ...merged, configFile, files, names: new Set(servers.map(({ name }) => name)), asInConfig };
}

/** `cwd` relative to the config's folder; left out if it is that folder, where servers start anyway. */
function fromConfig(entry: PortableEntry, folder: string, configFolder: string): PortableEntry {
  const { cwd, ...rest } = entry;
  if (typeof cwd !== "string" || isAbsolute(cwd) || cwd.startsWith("${")) return entry;
  const path = relative(configFolder, join(folder, cwd));
  return path === "" ? rest : { ...rest, cwd: path.split("\\").join("/") };
}

export interface SwitchPlan extends Rewired {
  inventory: Inventory;
  configText: string;
  config: Config;
  /** Whether the config changes. */
  isNew: boolean;
}

/** Throws CONFIG_INVALID and NEEDS_VARIABLE. */
export async function planSwitch(
  inventory: Inventory,
  options: { env: Environment; named: ReadonlySet<string> },
): Promise<SwitchPlan> {
  const { configFile, files, servers } = inventory;
  let configText = configFile.text;
  for (const { name, entry, isThere } of servers) {
    if (!isThere) configText = withServer(configFile, configText, name, entry);
  }
  const isNew = configText !== configFile.text;
  const config = await configAsText(configFile, configText === "" ? "{}" : configText, options.env);
  const concerned = files.filter((found) => concerns(found, files, options.named));
  return { inventory, configText, config, isNew, ...rewire(concerned, rewireOptions(configFile, options)) };
}

/** An agent without servers is not changed unless the user names it. */
function concerns(found: FoundFile, files: readonly FoundFile[], named: ReadonlySet<string>): boolean {
  const isTogether = ({ host, file }: FoundFile) => host === found.host && file.group === found.file.group;
  return (
    files.some((other) => isTogether(other) && other.servers.length + other.left.length > 0) ||
    (named.has(found.host.name) && !/[\\/]settings\.json$/.test(found.file.path)) ||
    (named.has(found.host.name) && found.host.name !== "vscode")
  );
}

/** A shared file starts claudikins by its name. The user's files use its path, because desktop programs do not have the shell's PATH. */
export function rewireOptions({ file }: Pick<ConfigFile, "file">, { env }: { env: Environment }): RewireOptions {
  return {
    command({ file: { scope, folder } }) {
      if (scope === "project" && folder !== undefined)
        return [claudikinsName, "serve", ...configWords(file, folder, env)];
      return selfCommand("serve", ...(file === userConfigFile(env) ? [] : ["--config", file]));
    },
  };
}

/** Whether no agent has a server, a problem or an entry of claudikins. */
export function isEmpty({ found, inventories }: Survey): boolean {
  const isNone = inventories.every(({ servers, conflicts }) => servers.length + conflicts.length === 0);
  return isNone && found.problems.length === 0 && found.files.every(({ own }) => own.length === 0);
}

/** The error for a machine whose agents have no servers. */
export function nothingFound({ found }: Survey): ClaudikinsError {
  const shared = found.shared.map(({ file }) => file);
  return new ClaudikinsError("SERVER_NOT_FOUND", "No agent on this machine has an MCP server", {
    hint:
      shared.length > 0
        ? `To import this project's servers from ${shared.join(" and ")}: claudikins init --project`
        : "Add a server by its name, for example: claudikins add context7",
  });
}
