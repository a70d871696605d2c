/** Turns servers and tools on and off in claudikins.json: the same for the command line and the page. */
import { type ConfigFile, configAsText, openConfigFile, type WhichConfig } from "../../config/config-file.ts";
import { parseJson } from "../../config/edit/json.ts";
import type { Config } from "../../config/load.ts";
import { isAnsweredFor } from "../../config/trust/require.ts";
import type { Decider } from "../../store/audit/event.ts";
import { isTrustedFile, saveConfig } from "../trust/trust-config.ts";
import type { ChangedText } from "./policy-changes.ts";
import { checkKnown, checkOn, entryIn, ownSwitch, type Switch, switchedOff, switchedOn, switchOf } from "./switches.ts";

export interface Switched extends Switch {
  enabled: boolean;
  /** Whether the config was changed for it. */
  changed: boolean;
}

export interface SwitchedServers {
  configFile: ConfigFile;
  /** The config afterwards. */
  config: Config;
  switched: Switched[];
  saved: ChangedText;
  /** Whether the config may be used, because the user trusts it or has named it. */
  isUsable: boolean;
}

interface WantedSwitches {
  configFile: ConfigFile;
  /** The config as it is. */
  before: Config;
  /** The servers and tools, with own names. */
  wanted: Switch[];
  isUsable: boolean;
}

/** What words mean, without a change. Throws SERVER_NOT_FOUND, TOOL_NOT_FOUND unless `mayBeUnknown`, and what opening the file throws. */
export async function wantedSwitches(
  words: readonly string[],
  which: WhichConfig,
  { isAnswered = false, mayBeUnknown = false }: { isAnswered?: boolean; mayBeUnknown?: boolean } = {},
): Promise<WantedSwitches> {
  const { env } = which;
  const configFile = openConfigFile(which);
  const before = await configAsText(configFile, configFile.text, env);
  // A registry that an untrusted file names is not read.
  const isUsable = isAnswered || isAnsweredFor(which) || (await isTrustedFile(configFile, env));
  const wanted = [...new Set(words)].map((word) => ownSwitch(switchOf(word, configFile), before, isUsable));
  if (isUsable && !mayBeUnknown) for (const one of wanted) checkKnown(one, before);
  return { configFile, before, wanted, isUsable };
}

/**
 * Switches servers, or tools as `server.tool`. Throws SERVER_NOT_FOUND, TOOL_NOT_FOUND, POLICY_DENIED if another line still switches one off, and
 * what opening and writing the file throw. Then nothing has changed.
 */
export async function switchServers(
  words: readonly string[],
  isOn: boolean,
  which: WhichConfig,
  { isAnswered = false, place }: { isAnswered?: boolean; place?: Decider["place"] } = {},
): Promise<SwitchedServers> {
  const { env } = which;
  const { configFile, wanted, isUsable } = await wantedSwitches(words, which, { isAnswered, mayBeUnknown: isOn });
  const { file } = configFile;
  let edited = configFile.text;
  const switched = wanted.map((one) => {
    const text = edited;
    const entry = entryIn(parseJson(edited, file), one.server);
    edited = isOn ? switchedOn(one, configFile, edited, entry) : switchedOff(one, configFile, edited, entry);
    return { ...one, enabled: isOn, changed: edited !== text };
  });
  const mustWork = ({ tool }: Switch) => isOn || tool !== undefined;
  const mustBeRight = (server: string) => wanted.some((one) => one.server === server && mustWork(one));
  const config = await configAsText(configFile, edited, env, mustBeRight);
  if (isOn) for (const one of wanted) checkOn(one, config);
  const saved = await saveConfig(configFile, edited, env, { place });
  return { configFile, config, switched, saved, isUsable };
}
