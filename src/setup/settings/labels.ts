/** Sets the labels of a tool's data in claudikins.json. */
import { isObject } from "../../base/json-object.ts";
import { configAsText } from "../../config/config-file.ts";
import { parseJson, removeMembers, setMember } from "../../config/edit/json.ts";
import type { Environment } from "../../config/environment.ts";
import type { Label } from "../../config/policy.ts";
import type { Decider } from "../../store/audit/event.ts";
import { toolId } from "../../tools/model.ts";
import { saveConfig } from "../trust/trust-config.ts";
import type { ChangedText } from "./policy-changes.ts";
import { entryIn, type OwnTool } from "./switches.ts";

/**
 * Writes the labels. Undefined removes them, so that the catalog and the rules decide. Returns undefined if the file need not be changed. Throws
 * what writing the file throws.
 */
export async function changeLabels(
  { configFile, ...tool }: OwnTool,
  wanted: readonly Label[] | undefined,
  env: Environment,
  place?: Decider["place"],
): Promise<ChangedText | undefined> {
  const edited = labelled(configFile, tool, wanted);
  await configAsText(configFile, edited, env);
  if (edited === configFile.text) return undefined;
  return saveConfig(configFile, edited, env, { place });
}

/** The text in which the entry of the server has these labels for the tool. */
function labelled(
  { file, text: before }: { file: string; text: string },
  { server, tool }: { server: string; tool: string },
  wanted: readonly Label[] | undefined,
): string {
  const path = ["mcpServers", server, "labels"];
  const { labels: own } = entryIn(parseJson(before, file), server);
  // The tool may be written with the server's name before it.
  const keys = [tool, toolId(server, tool)].filter((key) => isObject(own) && Object.hasOwn(own, key));
  if (wanted === undefined) {
    if (Array.isArray(own) && /^\*+$/.test(tool)) return removeMembers(before, path.slice(0, 2), ["labels"], file);
    if (keys.length === 0) return before;
    const isEmpty = Object.keys(own as object).length === keys.length;
    return isEmpty
      ? removeMembers(before, path.slice(0, 2), ["labels"], file)
      : removeMembers(before, path, keys, file);
  }
  if (!isObject(own)) {
    const all = Array.isArray(own) ? { "*": own, [tool]: wanted } : { [tool]: wanted };
    return JSON.stringify(own) === JSON.stringify(wanted) && tool === "*" ? before : setMember(before, path, all, file);
  }
  return (keys.length > 0 ? keys : [tool]).reduce(
    (edited, key) =>
      JSON.stringify(own[key]) === JSON.stringify(wanted) ? edited : setMember(edited, [...path, key], wanted, file),
    before,
  );
}
