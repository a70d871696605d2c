/** Writes down that the user trusts a config as it is. */
import type { Environment } from "../../config/environment.ts";
import type { ParsedConfig } from "../../config/parse.ts";
import { marksOf } from "../../config/trust/marks.ts";
import { recordTrust, textDigest } from "../../config/trust/store.ts";
import { linesOf } from "./lines.ts";

/** From now on the text counts without a question. Throws FILE_NOT_WRITABLE. */
export function trustConfig(
  { file, text, config }: { file: string; text: string; config: ParsedConfig },
  env: Environment,
): Promise<void> {
  return recordTrust(file, { text: textDigest(text), marks: marksOf(config), lines: linesOf(config) }, env);
}
