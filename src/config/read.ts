/** The text of a config file, as checked values: by the quick reader where it is enough. */
import type { ParsedConfig } from "./parse.ts";
import { readPlainConfig } from "./plain-config.ts";

/** Throws CONFIG_INVALID. The schema library is loaded only where there is something to check. */
export async function parsedConfig(text: string, file: string): Promise<ParsedConfig> {
  return readPlainConfig(text) ?? (await import("./parse.ts")).parseConfig(text, file);
}
