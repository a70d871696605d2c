/** Decides whether a config may be used. A project's config must be trusted, unless the user or the CI has consented otherwise. */
import {
  type ConfigChoice,
  type ConfigOrigin,
  discoverConfig,
  type FileOrigin,
  namedConfig,
  readConfigFile,
  refuseForeignConfig,
} from "../discover.ts";
import type { ParsedConfig } from "../parse.ts";
import { parsedConfig } from "../plain-config.ts";
import { ownServersBeside } from "../user-config.ts";
import { isHarmless, marksOf } from "./marks.ts";
import { NotTrusted } from "./not-trusted.ts";
import { knowsMarks, knowsText, trustedStates } from "./store.ts";

export interface TrustOptions extends ConfigChoice {
  /** Trusts a project's config for this run. A config that the user names is trusted anyway. */
  trust?: boolean | undefined;
  /** Whether `flag` was not given by a person. Then the file is treated like one that was found by its location. */
  isFlagFound?: boolean | undefined;
}

/** A config that was read, before its variables are expanded. */
export interface Read {
  text: string;
  parsed: ParsedConfig;
}

/** Throws CONFIG_NOT_TRUSTED if the config may not be used, and CONFIG_INVALID if the user's own config cannot be read. */
export async function requireTrust({ text, parsed }: Read, origin: FileOrigin, options: TrustOptions): Promise<void> {
  const { file } = origin;
  if (options.isFlagFound && !options.trust && origin.kind === "project") refuseForeignConfig(file, options.env);
  if (!needsTrust(origin, options)) return;
  const states = trustedStates(file, options.env);
  if (knowsText(text, states) || knowsMarks(marksOf(parsed), states)) return;
  const own = await ownServersBeside(parsed, options.env);
  if (isHarmless(parsed, own.added)) return;
  throw NotTrusted.of({ file, text, config: parsed, own, before: states[0] });
}

/**
 * Checks the trust of the config for callers that leave the rest to the daemon, which is cheaper than loading it. Returns where the
 * config comes from. Throws the errors of `discoverConfig`, FILE_NOT_FOUND, CONFIG_INVALID and
 * CONFIG_NOT_TRUSTED.
 */
export async function checkTrust(options: TrustOptions): Promise<ConfigOrigin> {
  const origin = discoverConfig(options);
  if (origin.kind === "demo" || !needsTrust(origin, options)) return origin;
  const { file } = origin;
  const text = readConfigFile(file);
  if (knowsText(text, trustedStates(file, options.env))) return origin;
  await requireTrust({ text, parsed: await parsedConfig(text, file) }, origin, options);
  return origin;
}

/** Returns whether the config must be in the store of trusted configs. */
function needsTrust({ kind }: FileOrigin, options: TrustOptions): boolean {
  return kind === "project" && !isAnsweredFor(options);
}

/** The values of the variable CI that count as consent for the run. */
const continuousIntegration = ["true", "1"];

/** Returns whether there is consent for any config in this run: the user names the config, gives `--trust`, or the run is in CI. */
export function isAnsweredFor({ trust, isFlagFound, flag, env }: Omit<TrustOptions, "cwd">): boolean {
  const isNamed = !isFlagFound && namedConfig({ flag, env }) !== undefined;
  return isNamed || trust === true || continuousIntegration.includes(env["CI"] ?? "");
}
