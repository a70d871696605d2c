/** Finds the servers and tools of the config that a person names, and switches them on and off: edits `disabled`, `deny` and `allow` in claudikins.json. */
import { ClaudikinsError } from "../../base/errors.ts";
import { objectAt, stringsIn } from "../../base/json-object.ts";
import { didYouMean } from "../../base/near-names.ts";
import { shellWord } from "../../base/shell-word.ts";
import {
  type ConfigFile,
  configAsText,
  noSuchServer,
  openConfigFile,
  type PortableEntry,
  type WhichConfig,
} from "../../config/config-file.ts";
import { appendItem, removeItem, removeMembers, setMember } from "../../config/edit/json.ts";
import type { Config } from "../../config/load.ts";
import { matches } from "../../config/pattern.ts";
import { calledTool, ownNameOf } from "../../config/tool-edits.ts";
import { isAnsweredFor } from "../../config/trust/require.ts";
import { closingLine, denialOf } from "../../policy/decision.ts";
import { toolId } from "../../tools/model.ts";
import { readIndex, tryIndex } from "../../tools/registry/store.ts";
import { isTrustedFile } from "../trust/trust-config.ts";

export interface Switch {
  server: string;
  /** The tool, in which `*` matches any text; undefined for the whole server. */
  tool?: string;
}

/** Reads `server` or `server.tool`; the longest matching server name of the config wins. Throws SERVER_NOT_FOUND. */
export function switchOf(word: string, configFile: ConfigFile): Switch {
  const { entries, ownNames } = configFile;
  if (entries.has(word)) return { server: word };
  const names = [...entries.keys()];
  const server = names.filter((name) => word.startsWith(`${name}.`)).sort((a, b) => b.length - a.length)[0];
  const tool = server === undefined ? "" : word.slice(server.length + 1);
  if (server !== undefined && tool !== "") return { server, tool };
  const own = ownNames.find((name) => word === name || word.startsWith(`${name}.`));
  throw noSuchServer(own ?? word.split(".", 1)[0] ?? word, configFile);
}

/**
 * The same with the tool's own name, because rules match own names. The user may have typed the name that agents see. Without `isUsable`,
 * the registry is not read.
 */
export function ownSwitch(one: Switch, { servers, disabled, folders }: Config, isUsable: boolean): Switch {
  const { server, tool } = one;
  const { edits } = servers.get(server) ?? disabled.get(server) ?? {};
  if (tool === undefined || !edits) return one;
  const { index } = isUsable ? tryIndex(folders.registry) : {};
  const stored = index?.servers.find(({ name }) => name === server)?.tools;
  return { server, tool: calledTool(edits, tool, stored)?.tool ?? tool };
}

/** Throws TOOL_NOT_FOUND if the registry shows that the server does not have the tool. Denied tools are not in the registry. */
export function checkKnown({ server, tool }: Switch, { folders, servers }: Config): void {
  const { policy, edits } = servers.get(server) ?? {};
  if (tool === undefined || (policy && denialOf(policy, tool) !== undefined)) return;
  const known = readIndex(folders.registry)?.servers.find(({ name }) => name === server)?.tools ?? [];
  // A tool that is stored with an edit of an earlier config may have any name.
  const isCalled = (own: string | undefined) => own === undefined || matches(tool, own);
  if (known.length === 0) return;
  if (known.some((each) => isCalled(each.edit === undefined ? each.name : ownNameOf(edits, each)))) return;
  const ids = known.map(({ name }) => toolId(server, name));
  throw new ClaudikinsError("TOOL_NOT_FOUND", `${server} has no tool "${tool}"`, {
    hint: didYouMean(toolId(server, tool), ids) ?? `To see its tools: claudikins list tools ${server}`,
  });
}

/** The text with the server or tool switched off. */
export function switchedOff(
  { server, tool }: Switch,
  { file }: ConfigFile,
  text: string,
  entry: PortableEntry,
): string {
  const path = ["mcpServers", server];
  if (tool === undefined) {
    return entry["disabled"] === true ? text : setMember(text, [...path, "disabled"], true, file);
  }
  const { deny } = entry;
  if (namesFor({ server, tool }).some((name) => stringsIn(deny).includes(name))) return text;
  if (Array.isArray(deny)) return appendItem(text, [...path, "deny"], tool, file);
  return setMember(text, [...path, "deny"], [tool], file);
}

/** The text with the server or tool switched on. */
export function switchedOn({ server, tool }: Switch, { file }: ConfigFile, text: string, entry: PortableEntry): string {
  const path = ["mcpServers", server];
  if (tool === undefined) return "disabled" in entry ? removeMembers(text, path, ["disabled"], file) : text;
  const names = namesFor({ server, tool });
  const left = stringsIn(entry["deny"]).filter((pattern) => !names.includes(pattern));
  let edited = text;
  if (left.length === 0) edited = removeMembers(edited, path, ["deny"], file);
  else for (const name of names) edited = removeItem(edited, [...path, "deny"], name, file);
  const { allow } = entry;
  const isListed = !Array.isArray(allow) || names.some((name) => stringsIn(allow).some((each) => matches(each, name)));
  return isListed ? edited : appendItem(edited, [...path, "allow"], tool, file);
}

/** The two names of a tool in an entry: with and without the server. */
function namesFor({ server, tool = "" }: Switch): string[] {
  return [tool, `${server}.${tool}`];
}

/** Throws POLICY_DENIED if another line of the config still switches it off. */
export function checkOn({ server, tool }: Switch, config: Config): void {
  const { policy } = config.servers.get(server) ?? {};
  if (!policy) return;
  const line = closingLine(policy);
  const why = tool !== undefined ? denialOf(policy, tool) : line && `is denied in the config by ${line}`;
  if (why === undefined) return;
  const name = tool === undefined ? server : toolId(server, tool);
  throw new ClaudikinsError("POLICY_DENIED", `${name} stays switched off: it ${why}`, {
    hint: "Change that line: claudikins config edit. Nothing was changed.",
  });
}

/** The entry of a server in a config document. */
export function entryIn(document: unknown, server: string): PortableEntry {
  return { ...objectAt(document, ["mcpServers", server]) };
}

/** The tool of the config that a person names, by its own name. */
export interface OwnTool {
  server: string;
  /** Perhaps with `*`. */
  tool: string;
  configFile: ConfigFile;
  /** Whether the config may be used, because the user trusts it or has named it. */
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
      hint: `A label may be about all of its tools: '${server}.*'. To change how the server is started: claudikins config server ${shellWord(server)}`,
    });
  }
  if (isUsable) checkKnown({ server, tool }, before);
  return { server, tool, configFile, isUsable };
}
