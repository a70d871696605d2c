/** Whether a config may be used now: a project's has to be trusted, unless somebody has answered for it otherwise. */
import { type ConfigChoice, type FileOrigin, namedConfig, refuseForeign } from "../discover.ts";
import type { ParsedConfig } from "../parse.ts";
import { isHarmless, marksOf } from "./marks.ts";
import { NotTrusted } from "./not-trusted.ts";
import { knowsMarks, knowsText, trustedStates } from "./store.ts";

export interface TrustOptions extends ConfigChoice {
  /** Trusts a project's config for this run. A config that the user names needs no such word. */
  trust?: boolean | undefined;
  /** The flag does not come from a person: the file is treated like one that was found. */
  isFlagFound?: boolean | undefined;
}

/** A config that was read, and not expanded yet. */
export interface Read {
  text: string;
  parsed: ParsedConfig;
}

/** Throws CONFIG_NOT_TRUSTED. */
export function requireTrust({ text, parsed }: Read, origin: FileOrigin, options: TrustOptions): void {
  const { file } = origin;
  if (options.isFlagFound && !options.trust && origin.kind === "project") refuseForeign(file, options.env);
  if (!needsTrust(origin, options)) return;
  const states = trustedStates(file, options.env);
  if (knowsText(text, states) || isHarmless(parsed) || knowsMarks(marksOf(parsed), states)) return;
  throw NotTrusted.of({ file, text, config: parsed, before: states[0] });
}

/** Whether the store decides about the config. */
export function needsTrust({ kind }: FileOrigin, options: TrustOptions): boolean {
  return kind === "project" && !isAnsweredFor(options);
}

/** The values of CI that count as consent for the run. Any other one does not. */
const continuousIntegration = ["true", "1"];

/** Whether somebody answers for whatever config counts in this run: they name it, give `--trust`, or it is a CI's. */
export function isAnsweredFor({ trust, isFlagFound, flag, env }: Omit<TrustOptions, "cwd">): boolean {
  const isNamed = !isFlagFound && namedConfig({ flag, env }) !== undefined;
  return isNamed || trust === true || continuousIntegration.includes(env["CI"] ?? "");
}
