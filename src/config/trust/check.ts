/** Checks the trust of the config for callers that leave the rest to the daemon. This is cheaper than loading the config. */
import { type ConfigOrigin, discoverConfig, readConfigFile } from "../discover.ts";
import { parsedConfig } from "../read.ts";
import { needsTrust, requireTrust, type TrustOptions } from "./require.ts";
import { knowsText, trustedStates } from "./store.ts";

/**
 * Returns where the config comes from. Throws the errors of `discoverConfig`, FILE_NOT_FOUND, CONFIG_INVALID and
 * CONFIG_NOT_TRUSTED.
 */
export async function checkTrust(options: TrustOptions): Promise<ConfigOrigin> {
  const origin = discoverConfig(options);
  if (origin.kind === "demo" || !needsTrust(origin, options)) return origin;
  const { file } = origin;
  const text = readConfigFile(file);
  if (knowsText(text, trustedStates(file, options.env))) return origin;
  requireTrust({ text, parsed: await parsedConfig(text, file) }, origin, options);
  return origin;
}
