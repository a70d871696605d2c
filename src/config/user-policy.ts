/** The user's own `policy`: it counts for projects, too, which can narrow it and never widen it. */
import { readIfThere } from "../files.ts";
import type { FileOrigin } from "./discover.ts";
import type { Environment } from "./environment.ts";
import { userConfigFile } from "./locations.ts";
import type { PolicyKeys } from "./policy.ts";
import { parsedConfig } from "./read.ts";

/**
 * Undefined where there is none, and for the user's own config, which has it already. Throws CONFIG_INVALID and FILE_NOT_FOUND:
 * where the user's file cannot be read, what it denies must not be allowed.
 */
export async function userPolicyFor(origin: FileOrigin, env: Environment): Promise<PolicyKeys | undefined> {
  if (origin.kind === "user") return undefined;
  const file = userConfigFile(env);
  const text = readIfThere(file);
  // A key may be written with escapes.
  if (text === undefined || !/"policy"|\\u/.test(text)) return undefined;
  return (await parsedConfig(text, file)).policy;
}
