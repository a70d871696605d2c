/** init: from the servers of all hosts to one config, and to hosts that know claudikins alone. */
import { dirname } from "node:path";
import type { Environment } from "../../config/environment.ts";
import type { Config } from "../../config/load.ts";
import { userConfigFile } from "../../config/locations.ts";
import { selfCommand } from "../../config/self.ts";
import { ClaudikinsError } from "../../errors.ts";
import type { Host, Surroundings } from "../../hosts/model.ts";
import { ownName } from "../../hosts/own.ts";
import { type ConfigFile, configAsText, withServer } from "../config-file.ts";
import { type Found, type FoundFile, findServers } from "./find.ts";
import { type Conflict, keptBoth, type MergedServer, merge, preferred } from "./merge.ts";
import { type Rewired, type RewireOptions, rewire } from "./rewire.ts";

export interface Inventory {
  found: Found;
  servers: MergedServer[];
  conflicts: Conflict[];
}

/** What the hosts have, beside what the config has; `order` are hosts whose word counts, `both` keeps all. */
export async function takeInventory(
  hosts: readonly Host[],
  configFile: ConfigFile,
  options: Surroundings & { project: boolean; named?: ReadonlySet<string>; order: readonly string[]; both: boolean },
): Promise<Inventory> {
  const found = await findServers(hosts, options);
  const merged = merge(
    found.files.flatMap(({ servers }) => servers),
    configFile.entries,
    configFile.file,
  );
  const inventory: Inventory = { found, servers: merged.servers, conflicts: [] };
  for (const conflict of merged.conflicts) {
    const one = preferred(conflict, options.order);
    if (one) inventory.servers.push(one);
    else if (options.both) settleBoth(inventory, conflict);
    else inventory.conflicts.push(conflict);
  }
  return inventory;
}

/** Both stay, under two names. */
export function settleBoth(inventory: Inventory, conflict: Conflict): void {
  const taken = new Set(inventory.servers.map(({ name }) => name));
  inventory.servers.push(...keptBoth(conflict, taken));
}

export interface SwitchPlan extends Rewired {
  configText: string;
  config: Config;
  /** Whether the config gets anything new. */
  isNew: boolean;
}

/** Throws CONFIG_INVALID and NEEDS_VARIABLE. */
export async function planSwitch(
  inventory: Inventory,
  configFile: ConfigFile,
  options: { env: Environment; cwd: string; named: ReadonlySet<string> },
): Promise<SwitchPlan> {
  let configText = configFile.text;
  for (const { name, entry, isThere } of inventory.servers) {
    // Where the config has another one of that name, the person has decided that it goes.
    if (!isThere) configText = withServer(configFile, configText, name, entry);
  }
  const isNew = configText !== configFile.text;
  const config = await configAsText(configFile, configText === "" ? "{}" : configText, options.env);
  const files = inventory.found.files.filter((found) => concerns(found, inventory.found.files, options.named));
  return { configText, config, isNew, ...rewire(files, rewireOptions(configFile, options)) };
}

/** A host that has no servers is left alone, unless somebody names it. */
function concerns(found: FoundFile, files: readonly FoundFile[], named: ReadonlySet<string>): boolean {
  const isTogether = ({ host, file }: FoundFile) => host === found.host && file.group === found.file.group;
  return (
    files.some((other) => isTogether(other) && other.servers.length > 0) ||
    (named.has(found.host.name) && !/[\\/]settings\.json$/.test(found.file.path)) ||
    (named.has(found.host.name) && found.host.name !== "vscode")
  );
}

/** A file that others share starts claudikins by its name; one's own by its path, since windows know no PATH of shells. */
export function rewireOptions({ file }: Pick<ConfigFile, "file">, { env }: { env: Environment }): RewireOptions {
  const isUsers = file === userConfigFile(env);
  return {
    command(found) {
      const isFound = isUsers || (found.file.folder !== undefined && dirname(file) === found.file.folder);
      const where = isFound ? [] : ["--config", file];
      return found.file.scope === "project" ? [ownName, "serve", ...where] : selfCommand("serve", ...where);
    },
  };
}

/** Throws USAGE where the hosts have no servers at all, and nothing went wrong. */
export function checkNotEmpty({ found, servers, conflicts }: Inventory): void {
  if (servers.length + conflicts.length + found.problems.length > 0) return;
  if (found.files.some(({ own }) => own.length > 0)) return;
  const shared = found.shared.map(({ file }) => file);
  throw new ClaudikinsError("SERVER_NOT_FOUND", "No host on this machine has an MCP server", {
    hint:
      shared.length > 0
        ? `This project has some, in ${shared.join(" and ")}: claudikins init --project`
        : "Add one by its name, for example: claudikins add context7",
  });
}
