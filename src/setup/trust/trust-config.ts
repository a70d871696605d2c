/** Records that the user trusts a config, and keeps that trust when a command of the user changes it. */

import { sha256 } from "../../base/sha256.ts";
import { shellWord } from "../../base/shell-word.ts";
import { type ConfigText, writeConfigFile } from "../../config/config-file.ts";
import type { Environment } from "../../config/environment.ts";
import type { ParsedConfig } from "../../config/parse.ts";
import { parsedConfig } from "../../config/plain-config.ts";
import { enabledServers, isHarmless, marksOf } from "../../config/trust/marks.ts";
import { knowsMarks, recordTrust, revokeTrust, trustedStates } from "../../config/trust/store.ts";
import { ownServersBeside } from "../../config/user-config.ts";
import { thisProcess } from "../../store/audit/decider.ts";
import type { AuditEvent, Decider } from "../../store/audit/event.ts";
import { record as recordEvent } from "../../store/audit/record.ts";
import { type ChangedText, recordedChange } from "../settings/policy-changes.ts";
import { linesOf } from "./lines.ts";

/** Whether the user trusts everything in the file: it is the user's own, trusted, new or harmless. */
export async function isTrustedFile({ kind, file, content, text }: ConfigText, env: Environment): Promise<boolean> {
  if (kind === "user" || content === undefined) return true;
  try {
    const config = await parsedConfig(text, file);
    return (
      isHarmless(config, (await ownServersBeside(config, env)).added) ||
      knowsMarks(marksOf(config), trustedStates(file, env))
    );
  } catch {
    // A file that cannot be parsed is not trusted.
    return false;
  }
}

/**
 * Records the changes of servers and policies in the audit log, and then writes the change of the user's command. A trusted file stays
 * trusted. Returns the texts before and after it. Throws what `writeConfigFile` and `recordedChange` throw; in that case nothing has changed.
 */
export async function saveConfig(
  configFile: ConfigText,
  text: string,
  env: Environment,
  { secrets, place = "command" }: { secrets?: boolean; place?: Decider["place"] | undefined } = {},
): Promise<ChangedText> {
  const isTrusted = await isTrustedFile(configFile, env);
  const change = { file: configFile.file, before: configFile.text, after: text };
  await recordedChange(change, env, place, () => writeConfigFile(configFile, text, { secrets }));
  if (isTrusted) await keepTrust(configFile, text, env);
  return change;
}

/** Trusts the text that the user's command has written. Call it only if `isTrustedFile` was true before. */
export async function keepTrust({ kind, file }: ConfigText, text: string, env: Environment): Promise<void> {
  if (kind === "project") await record({ file, text, config: await parsedConfig(text, file) }, env);
}

/** The message after a change to a file that the user does not trust. */
export function untrustedText({ file }: ConfigText): string {
  return `${file} has other content that you do not trust yet. Review it: claudikins trust ${shellWord(file)}`;
}

interface Trusting {
  file: string;
  text: string;
  config: ParsedConfig;
}

/** Trusts the text because a person has decided so. Throws FILE_NOT_WRITABLE. */
export async function trustConfig(trusting: Trusting, env: Environment, place: Decider["place"]): Promise<void> {
  const { file, config } = trusting;
  const event: AuditEvent = {
    decision: "trusted",
    config: file,
    servers: enabledServers(config).map(([name]) => name),
  };
  await recordEvent(env, [event], thisProcess(place));
  await record(trusting, env);
}

/** Records that the trust in a file ends, and then ends it. Returns whether it was trusted. Throws FILE_NOT_WRITABLE. */
export async function endTrust(file: string, env: Environment): Promise<boolean> {
  if (trustedStates(file, env).length === 0) return false;
  await recordEvent(env, [{ decision: "untrusted", config: file }], thisProcess("command"));
  return (await revokeTrust([file], env)).length > 0;
}

function record({ file, text, config }: Trusting, env: Environment): Promise<void> {
  return recordTrust(file, { text: sha256(text), marks: marksOf(config), lines: linesOf(config) }, env);
}
