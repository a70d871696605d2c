/** The tool of the config that a person names, by its own name. */
import { ClaudikinsError } from "../../base/errors.ts";
import { type ConfigFile, configAsText, openConfigFile, type WhichConfig } from "../../config/config-file.ts";
import { isAnsweredFor } from "../../config/trust/require.ts";
import { isTrustedFile } from "../trust/trust-config.ts";
import { checkKnown, ownSwitch, switchOf } from "./switches.ts";

export interface OwnTool {
  server: string;
  /** Perhaps with `*`. */
  tool: string;
  configFile: ConfigFile;
  /** Whether the config may be used: the user trusts or names it. */
  isUsable: boolean;
}

/** Throws USAGE for a server, and SERVER_NOT_FOUND and TOOL_NOT_FOUND. */
export async function ownTool(word: string, which: WhichConfig): Promise<OwnTool> {
  const configFile = openConfigFile(which);
  const before = await configAsText(configFile, configFile.text, which.env);
  // A registry that an untrusted file names is not read.
  const isUsable = isAnsweredFor(which) || (await isTrustedFile(configFile, which.env));
  const { server, tool } = ownSwitch(switchOf(word, configFile), before, isUsable);
  if (tool === undefined) {
    throw new ClaudikinsError("USAGE", `"${word}" is a server: name a tool, as server.tool`, {
      hint: `A label may be about all of its tools: '${server}.*'`,
    });
  }
  if (isUsable) checkKnown({ server, tool }, before);
  return { server, tool, configFile, isUsable };
}
