/** Adds servers to claudikins.json after they were tried: the same for the command line and the page. */
import { type ConfigFile, configAsText, withServer } from "../../config/config-file.ts";
import type { Environment } from "../../config/environment.ts";
import type { Config } from "../../config/load.ts";
import type { Decider } from "../../store/audit/event.ts";
import type { ToolCatalog } from "../../tools/catalog/tool-catalog.ts";
import { discardBundles } from "../bundles/archive.ts";
import { saveConfig } from "../trust/trust-config.ts";
import { type CheckedEntry, checkNew, type NewServer } from "./add-server.ts";

/** Time for the first start of a server, which may have to be downloaded. */
const firstStartMs = 120_000;

/** The text of the file with the servers, and its config. Throws CONFIG_INVALID if an entry is wrong. */
export async function configWith(
  servers: readonly NewServer[],
  configFile: ConfigFile,
  env: Environment,
): Promise<{ text: string; config: Config }> {
  const text = servers.reduce((done, { name, entry }) => withServer(configFile, done, name, entry), configFile.text);
  const names = servers.map(({ name }) => name);
  return { text, config: await configToTry(text, names, configFile, env) };
}

/** The config of the text, with time for the first start of its servers. Throws CONFIG_INVALID if the entry of a named server is wrong. */
export async function configToTry(
  text: string,
  names: readonly string[],
  configFile: ConfigFile,
  env: Environment,
): Promise<Config> {
  const config = await configAsText(configFile, text, env, (name) => names.includes(name));
  for (const server of config.servers.values()) {
    // `npx` and the like may have to download the server first.
    server.startTimeoutMs = Math.max(server.startTimeoutMs, firstStartMs);
  }
  return config;
}

interface TryingOptions {
  /** The catalog of an app with the new config. */
  catalog: ToolCatalog;
  env: Environment;
  /** Whether each server is started before anything is written. */
  isChecked: boolean;
  signal: AbortSignal;
  place?: Decider["place"];
  /** Follows the start of a server. */
  onStart?: <T>(name: string, started: Promise<T>) => Promise<T>;
}

/**
 * Starts the servers, writes their entries, and lists the tools of those that work. Returns the result of each start. Throws what the start of a
 * server throws, and then writes nothing.
 */
export async function tryAndSave(
  servers: readonly NewServer[],
  { configFile, text }: { configFile: ConfigFile; text: string },
  { catalog, env, isChecked, signal, place, onStart = (_, started) => started }: TryingOptions,
): Promise<Map<string, CheckedEntry | undefined>> {
  catalog.ignoreChanges();
  const checked = new Map<string, CheckedEntry | undefined>();
  for (const { name } of isChecked ? servers : []) {
    checked.set(name, await onStart(name, checkNew(name, catalog, signal, place)));
  }
  await saveConfig(configFile, text, env, { secrets: configFile.kind === "user", place });
  const kept = new Set(servers.map(({ entry }) => entry["cwd"]));
  const replaced = servers.map(({ name }) => name).filter((name) => !kept.has(configFile.entries.get(name)?.["cwd"]));
  discardBundles(configFile, replaced, env);
  for (const [name, found] of checked) {
    // The server is connected, so its files and the index are written from its current tools.
    if (found?.tools !== undefined) await catalog.tools(name, { signal });
  }
  return checked;
}
