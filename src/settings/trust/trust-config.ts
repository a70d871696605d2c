/** Records that the user trusts a config, and keeps that trust when the user changes the config with claudikins. */
import type { Environment } from "../../config/environment.ts";
import type { ParsedConfig } from "../../config/parse.ts";
import { parsedConfig } from "../../config/plain-config.ts";
import { isHarmless, marksOf } from "../../config/trust/marks.ts";
import { knowsMarks, recordTrust, textDigest, trustedStates } from "../../config/trust/store.ts";
import { shellWord } from "../../shell-word.ts";
import type { ConfigText } from "../config-file.ts";
import { linesOf } from "./lines.ts";

/** Whether the user trusts everything in the file: it is the user's own, trusted, new or harmless. */
export async function isTrustedFile({ kind, file, content, text }: ConfigText, env: Environment): Promise<boolean> {
  if (kind === "user" || content === undefined) return true;
  try {
    const config = await parsedConfig(text, file);
    return isHarmless(config) || knowsMarks(marksOf(config), trustedStates(file, env));
  } catch {
    // A file that cannot be parsed is not trusted.
    return false;
  }
}

/** Trusts the text that the user's command has written. Call it only if `isTrustedFile` was true before. */
export async function keepTrust({ kind, file }: ConfigText, text: string, env: Environment): Promise<void> {
  if (kind === "project") await trustConfig({ file, text, config: await parsedConfig(text, file) }, env);
}

/** The message after a change to a file that the user does not trust. */
export function untrustedText({ file }: ConfigText): string {
  return `${file} has other content that you do not trust yet. Review it: claudikins trust ${shellWord(file)}`;
}

/** Trusts the text without a question. Throws FILE_NOT_WRITABLE. */
export function trustConfig(
  { file, text, config }: { file: string; text: string; config: ParsedConfig },
  env: Environment,
): Promise<void> {
  return recordTrust(file, { text: textDigest(text), marks: marksOf(config), lines: linesOf(config) }, env);
}
