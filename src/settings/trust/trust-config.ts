/** Changes of a project's config that the user makes with claudikins: they need no second word. */
import type { Environment } from "../../config/environment.ts";
import type { ParsedConfig } from "../../config/parse.ts";
import { parsedConfig } from "../../config/read.ts";
import { isHarmless, marksOf } from "../../config/trust/marks.ts";
import { knowsMarks, recordTrust, textDigest, trustedStates } from "../../config/trust/store.ts";
import { shellWord } from "../../shell-word.ts";
import type { ConfigText } from "../config-file.ts";
import { linesOf } from "./lines.ts";

/** Whether the user answers for all that is in the file: they trust it, or there is nothing in it yet. */
export async function isTrustedFile({ kind, file, content, text }: ConfigText, env: Environment): Promise<boolean> {
  if (kind === "user" || content === undefined) return true;
  try {
    const config = await parsedConfig(text, file);
    return isHarmless(config) || knowsMarks(marksOf(config), trustedStates(file, env));
  } catch {
    // What cannot be read was trusted by nobody.
    return false;
  }
}

/** `text` is what the file has now, written at the user's word. Call it only where `isTrustedFile` was true before. */
export async function keepTrust({ kind, file }: ConfigText, text: string, env: Environment): Promise<void> {
  if (kind === "project") await trustConfig({ file, text, config: await parsedConfig(text, file) }, env);
}

/** For a file that was changed although the user does not trust the rest of it. */
export function untrustedText({ file }: ConfigText): string {
  return `${file} has other content that you do not trust yet. Review it: claudikins trust ${shellWord(file)}`;
}

/** From now on the text counts without a question. Throws FILE_NOT_WRITABLE. */
export function trustConfig(
  { file, text, config }: { file: string; text: string; config: ParsedConfig },
  env: Environment,
): Promise<void> {
  return recordTrust(file, { text: textDigest(text), marks: marksOf(config), lines: linesOf(config) }, env);
}
