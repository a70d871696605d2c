/** Removes servers from claudikins.json: the same for the command line and the page. */
import { type ConfigFile, noSuchServer } from "../../config/config-file.ts";
import { removeMembers } from "../../config/edit/json.ts";
import type { Environment } from "../../config/environment.ts";
import type { Decider } from "../../store/audit/event.ts";
import { requireLog } from "../../store/audit/record.ts";
import { discardBundles } from "../bundles/archive.ts";
import { saveConfig } from "../trust/trust-config.ts";
import type { ChangedText } from "./policy-changes.ts";

interface RemovingOptions {
  place?: Decider["place"];
  /** Called before anything is written. */
  before?: (() => Promise<void>) | undefined;
}

interface RemovedServers {
  changed: ChangedText;
  /** The servers of bundles: their entries would not work again. */
  discarded: string[];
}

/**
 * Removes their entries and what was unpacked for them. The removal is recorded, and nothing changes if it cannot be. Returns the change,
 * and the servers whose unpacked files were deleted. Throws SERVER_NOT_FOUND, and what recording and writing throw.
 */
export async function removeServers(
  names: readonly string[],
  configFile: ConfigFile,
  env: Environment,
  { place, before }: RemovingOptions = {},
): Promise<RemovedServers> {
  for (const name of names) if (!configFile.entries.has(name)) throw noSuchServer(name, configFile);
  await requireLog(env);
  await before?.();
  const text = removeMembers(configFile.text, ["mcpServers"], [...names], configFile.file);
  const changed = await saveConfig(configFile, text, env, { place });
  return { changed, discarded: discardBundles(configFile, names, env) };
}
