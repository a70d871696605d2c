/** Plans `init`: the servers of all agents go into a config, and the agents get claudikins in their place. */
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import { ClaudikinsError } from "../../base/errors.ts";
import { isObject, stringsIn } from "../../base/json-object.ts";
import { shellWord } from "../../base/shell-word.ts";
import {
  type ConfigFile,
  configAsText,
  openConfigFile,
  type PortableEntry,
  withServer,
} from "../../config/config-file.ts";
import { refuseForeignConfig } from "../../config/discover.ts";
import { noSuchDoor } from "../../config/doors.ts";
import type { Environment } from "../../config/environment.ts";
import type { Config } from "../../config/load.ts";
import { configFileName, projectFolder, userConfigFile } from "../../config/locations.ts";
import { isWithin } from "../../config/trust/written-folders.ts";
import { inheritedNames } from "../../servers/process/child-environment.ts";
import { lastingCommand } from "../upgrade/lasting.ts";
import { leaveServer, settleByWishes, type Wishes } from "./choices.ts";
import { settleAsBefore } from "./decisions.ts";
import { type FoundFile, type FoundFiles, type FoundServer, findServers } from "./find-servers.ts";
import { type Inventory, type MergedServer, merge } from "./merge.ts";
import { isTogether, type Rewired, rewire, type StartCommand } from "./rewire.ts";
import { claudikinsName } from "./supported/claudikins-entry.ts";
import type { Agent, AgentSurroundings } from "./supported/model.ts";
import { folderWith } from "./supported/settings-files.ts";

export interface Survey {
  found: FoundFiles;
  /** The user's first. */
  inventories: Inventory[];
}

export interface SurveyOptions extends AgentSurroundings {
  /** Include the files of the project around the working directory. */
  project: boolean;
  /** The config that the user named: for the project's servers with `project`, else for all servers. */
  config?: string | undefined;
  /** Agents that the user named. */
  named?: ReadonlySet<string>;
  wishes: Wishes;
}

/** Compares the agents' servers with the configs. Throws USAGE, CONFIG_INVALID, and CONFIG_NOT_FOUND for a project without a config. */
export async function takeSurvey(agents: readonly Agent[], options: SurveyOptions): Promise<Survey> {
  const found = await findServers(agents, options);
  const ofUser = found.files.filter(({ file }) => file.folder === undefined);
  const userFile = openConfigFile({
    ...options,
    flag: options.project ? undefined : options.config,
    user: options.project || options.config === undefined,
  });
  const inventories = [await withVariables(inventoryOf(ofUser, userFile), options.env)];
  for (const [path, files] of byProjectConfig(found, options)) {
    inventories.push(inventoryOf(files, openConfigFile({ ...options, flag: path })));
  }
  settleByWishes(inventories, options.wishes);
  settleAsBefore(inventories, options.env);
  return { found, inventories };
}

/** The project's files by the claudikins.json that gets their servers: one in the project, for everyone who works on it. */
function byProjectConfig({ files }: FoundFiles, options: SurveyOptions): Map<string, FoundFile[]> {
  const { env, cwd, config } = options;
  const configs = new Map<string, FoundFile[]>();
  const homeless: FoundFile[] = [];
  for (const found of files) {
    const { folder } = found.file;
    if (folder === undefined) continue;
    const path = config === undefined ? nearestConfig(folder, env) : configInProject(resolve(cwd, config), folder, env);
    if (path !== undefined) configs.set(path, [...(configs.get(path) ?? []), found]);
    else if (found.servers.length > 0) homeless.push(found);
  }
  if (homeless.length > 0) throw noProjectConfig(homeless, { cwd, env });
  return configs;
}

/** The config, if it is in the project around the folder. Throws USAGE. */
function configInProject(config: string, folder: string, env: Environment): string {
  const root = projectFolder({ cwd: folder, env });
  if (isWithin(config, root)) return config;
  throw new ClaudikinsError("USAGE", `${config} is not in the project ${root}`, {
    hint: `Others who work on the project cannot read it. Choose a file in the project: --config ${join(root, configFileName)}`,
  });
}

/** The nearest config from the folder up to the repository's root, where `serve` looks too. Throws CONFIG_NOT_TRUSTED. */
function nearestConfig(folder: string, env: Environment): string | undefined {
  const found = folderWith(configFileName, { cwd: folder, env });
  if (found === undefined) return undefined;
  const file = join(found, configFileName);
  refuseForeignConfig(file, env);
  return file;
}

/** The error for a project that has servers but no config. */
function noProjectConfig(files: FoundFile[], { cwd, env }: { cwd: string; env: Environment }): ClaudikinsError {
  const texts = files.map(({ file: { path }, servers: { length } }) => {
    return `  ${path}: ${length} ${length === 1 ? "server" : "servers"}`;
  });
  const usual = join(projectFolder({ cwd: files[0]?.file.folder ?? cwd, env }), configFileName);
  return new ClaudikinsError(
    "CONFIG_NOT_FOUND",
    `This project has servers of its own, but no claudikins.json to import them into:\n${texts.join("\n")}`,
    {
      hint: `If they moved to your own config, everyone else on the project would lose them. To import them into a claudikins.json that you commit with the project: claudikins init --project --config ${shellWord(relative(cwd, usual) || usual)}. Nothing was changed.`,
    },
  );
}

function inventoryOf(files: FoundFile[], configFile: ConfigFile): Inventory {
  const isShared = files.some(({ file }) => file.folder !== undefined);
  const entryOf = ({ entry, folder }: FoundServer) =>
    isShared && folder !== undefined ? fromConfig(entry, folder, dirname(configFile.file)) : entry;
  const servers = files.flatMap((file) => file.servers);
  const merged = merge(servers, configFile.entries, configFile.file, entryOf);
  return { ...merged, configFile, files, names: new Set(servers.map(({ name }) => name)), decided: [] };
}

/**
 * Adds the variables that the user's servers are known to read. A project's servers are left as they are, because other members of the
 * project may have set other variables.
 */
async function withVariables(inventory: Inventory, env: Environment): Promise<Inventory> {
  for (const server of inventory.servers) {
    if (server.isThere) continue;
    server.entry = await withKnownVariables(server.entry, env);
    const names = stringsIn(server.entry["inherit"]);
    if (names.length > 0) server.notes = [...server.notes, `it gets ${names.join(", ")} from your environment`];
  }
  return inventory;
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
  /** The command in the agents' new entries. */
  command: StartCommand;
}

/** `door` gives the agents that part of the config. Throws CONFIG_INVALID, NEEDS_VARIABLE and DOOR_NOT_FOUND. */
export async function planSwitch(
  inventory: Inventory,
  options: { env: Environment; named: ReadonlySet<string>; door?: string | undefined },
): Promise<SwitchPlan> {
  const { configFile, files, servers } = inventory;
  let configText = configFile.text;
  for (const { name, entry, isThere } of servers) {
    if (!isThere) configText = withServer(configFile, configText, name, entry);
  }
  const isNew = configText !== configFile.text;
  const config = await configAsText(configFile, configText === "" ? "{}" : configText, options.env);
  const unable = servers.flatMap((server) => {
    const names = server.isThere ? [] : unsetVariables(server, config, options.env);
    return names.length > 0 ? [{ server, names }] : [];
  });
  // Other members of the project may have set them.
  if (unable.length > 0 && configFile.kind === "user") {
    for (const { server, names } of unable) leaveServer(inventory, server, unsetText(names));
    return planSwitch(inventory, options);
  }
  const concerned = files.filter((found) => concerns(found, inventory, options.named));
  const { door } = options;
  if (door !== undefined && !config.doors.includes(door)) throw noSuchDoor(door, config.doors, configFile.file);
  const command = commandFor(configFile, options.env, door);
  return { inventory, configText, config, isNew, command, ...rewire(concerned, command) };
}

/** The variables that the server lacks here: unset ones, and ones whose values its agent supplied. */
function unsetVariables({ name, supplied }: MergedServer, { servers }: Config, env: Environment): string[] {
  const unset = supplied.flatMap(({ variable }) => (env[variable] ? [] : [variable]));
  return [...new Set([...(servers.get(name)?.needs ?? []), ...unset])].sort();
}

const unsetText = (names: readonly string[]) =>
  `it needs ${names.join(", ")}, not set here. Set this and run claudikins init again, or add --env ${names[0]}=value`;

/**
 * Whether the agent's file is changed. An agent without servers is changed only if the user names it, and no agent is changed if the config
 * has no server for it. VS Code then gets only its newer file.
 */
function concerns(found: FoundFile, inventory: Inventory, named: ReadonlySet<string>): boolean {
  const { agent, file } = found;
  const { files, servers, conflicts, configFile } = inventory;
  const isOffered = servers.length + conflicts.length + configFile.entries.size > 0;
  const hasServers = files.some((other) => isTogether(other, found) && other.servers.length + other.left.length > 0);
  return (
    (hasServers && isOffered) ||
    (named.has(agent.name) && (agent.name !== "vscode" || basename(file.path) === "mcp.json"))
  );
}

/** A shared file starts claudikins by its name. The user's files use its path, because desktop programs do not have the shell's PATH. */
export function commandFor(
  { file: config }: Pick<ConfigFile, "file">,
  env: Environment,
  door?: string | undefined,
): StartCommand {
  const behind = door === undefined ? [] : ["--door", door];
  return ({ folder }) => {
    if (folder === undefined) {
      return lastingCommand(env, "serve", ...(config === userConfigFile(env) ? [] : ["--config", config]), ...behind);
    }
    // `serve` finds the nearest claudikins.json by itself.
    const isFound =
      basename(config) === configFileName && (dirname(config) === folder || nearestConfig(folder, env) === config);
    const words = isFound ? [] : ["--config", relative(folder, config).split("\\").join("/")];
    return [claudikinsName, "serve", ...words, ...behind];
  };
}

/** Whether no agent has a server, a problem or an entry of claudikins. A plugin alone has no servers to offer. */
export function isEmpty({ found, inventories }: Survey): boolean {
  const isNone = inventories.every(({ servers, conflicts }) => servers.length + conflicts.length === 0);
  const hasConfig = inventories.some(({ configFile }) => configFile.entries.size > 0);
  const isConnected = found.files.some(({ own, plugin }) => own.length > 0 || (plugin && hasConfig));
  return isNone && found.problems.length === 0 && !isConnected;
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

/** The entry, with the variables that its server is known to read and that are set. Only for programs. */
async function withKnownVariables(entry: PortableEntry, env: Environment): Promise<PortableEntry> {
  const { command, args } = entry;
  if (typeof command !== "string" || entry["inherit"] !== undefined) return entry;
  const { recognise } = await import("../../tools/server-catalog.ts");
  const known = recognise({ command, args: stringsIn(args) })?.variables ?? [];
  const declared = isObject(entry["env"]) ? entry["env"] : {};
  const usual = new Set(inheritedNames(env));
  const names = known
    .map(({ name }) => name)
    .filter((name) => env[name] !== undefined && !Object.hasOwn(declared, name) && !usual.has(name));
  return names.length === 0 ? entry : { ...entry, inherit: names };
}

/** Names of variables of the shell, the terminal or claudikins, which no server needs. */
const ofShell =
  /^(?:_|.*PWD|SHLVL|PS\d|PROMPT.*|HIST.*|LS_COLORS|LESS.*|PAGER|MANPATH|EDITOR|VISUAL|COLORTERM|TERM_.*|COLUMNS|LINES|MAIL|BASH.*|ZSH.*|FISH.*|STARSHIP.*|TMUX.*|STY|WINDOWID|SESSION_MANAGER|INVOCATION_ID|JOURNAL_STREAM|CLAUDE.*|CLAUDIKINS_.*|CODEX.*|VSCODE.*|BUN_.*|npm_.*|FORCE_COLOR|NO_COLOR|CI)$/;

/** Names of variables that none of these servers gets, although an agent would have given them. Sorted. */
export function withheldNames(env: Environment, entries: readonly PortableEntry[]): string[] {
  const passed = new Set(entries.flatMap(({ inherit }) => inheritedNames(env, stringsIn(inherit))));
  return Object.keys(env)
    .filter((name) => env[name] !== undefined && !passed.has(name) && !ofShell.test(name))
    .sort();
}
