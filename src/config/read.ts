/** Reads the text of a config file as checked values, with the fast reader if possible. */
import type { ParsedConfig } from "./parse.ts";
import { readPlainConfig } from "./plain-config.ts";

/** Throws CONFIG_INVALID. The schema library is loaded only if the fast reader cannot read the text. */
export async function parsedConfig(text: string, file: string): Promise<ParsedConfig> {
  return readPlainConfig(text) ?? (await import("./parse.ts")).parseConfig(text, file);
}
