/** The user's own `policy`. It also applies to projects, which can add rules to it but cannot remove any. */
import { readIfThere } from "../files.ts";
import type { FileOrigin } from "./discover.ts";
import type { Environment } from "./environment.ts";
import { userConfigFile } from "./locations.ts";
import type { PolicyKeys } from "./policy.ts";
import { parsedConfig } from "./read.ts";

/**
 * Returns the `policy` of the user's config for a project or the demo. Returns undefined if there is none, and for the user's
 * config itself, which already contains it. Throws CONFIG_INVALID and FILE_NOT_FOUND: if the file cannot be read, its denials must
 * not be ignored.
 */
export async function userPolicyFor(origin: FileOrigin, env: Environment): Promise<PolicyKeys | undefined> {
  if (origin.kind === "user") return undefined;
  const file = userConfigFile(env);
  const text = readIfThere(file);
  // The key may be written with Unicode escapes.
  if (text === undefined || !/"policy"|\\u/.test(text)) return undefined;
  return (await parsedConfig(text, file)).policy;
}
