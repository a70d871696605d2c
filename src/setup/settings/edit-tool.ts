/** Changes how agents see a tool, in claudikins.json. */
import { ClaudikinsError } from "../../base/errors.ts";
import { isObject, type JsonObject } from "../../base/json-object.ts";
import { configAsText } from "../../config/config-file.ts";
import { parseJson, removeMembers, setMember } from "../../config/edit/json.ts";
import type { Environment } from "../../config/environment.ts";
import type { Decider } from "../../store/audit/event.ts";
import { toolId } from "../../tools/model.ts";
import { saveConfig } from "../trust/trust-config.ts";
import type { ChangedText } from "./policy-changes.ts";
import type { OwnTool } from "./switches.ts";

export interface EditChange {
  name?: string | undefined;
  description?: string | undefined;
  /** By argument, as in the config. */
  arguments?: JsonObject;
  /** Whether earlier changes are removed first. */
  reset?: boolean | undefined;
}

/**
 * Adds to the changes that were made before. `entry` is undefined if none is left. Throws USAGE if nothing is to be changed, and what writing the
 * file throws.
 */
export async function changeEdit(
  { server, tool, configFile }: OwnTool,
  { name, description, arguments: given = {}, reset = false }: EditChange,
  env: Environment,
  place?: Decider["place"],
): Promise<{ changed: ChangedText | undefined; entry: JsonObject | undefined }> {
  const { file, text: before } = configFile;
  const id = toolId(server, tool);
  const all = parseJson(before, file)["tools"];
  const tools = isObject(all) ? all : {};
  const old = !reset && isObject(tools[id]) ? tools[id] : {};
  const known = isObject(old["arguments"]) ? old["arguments"] : {};
  const added = Object.entries(given).map(([argument, each]) => [
    argument,
    { ...Object(known[argument]), ...Object(each) },
  ]);
  const parameters = { ...known, ...Object.fromEntries(added) };
  const entry: JsonObject = {
    ...old,
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    ...(Object.keys(parameters).length > 0 ? { arguments: parameters } : {}),
  };
  const isGone = Object.keys(entry).length === 0;
  if (isGone && !reset) throw new ClaudikinsError("USAGE", "Say what to change: see claudikins edit --help");
  const isLast = Object.keys(tools).every((each) => each === id);
  const removed = () =>
    isLast ? removeMembers(before, [], ["tools"], file) : removeMembers(before, ["tools"], [id], file);
  const isThere = Object.hasOwn(tools, id);
  const edited = !isGone ? setMember(before, ["tools", id], entry, file) : isThere ? removed() : before;
  await configAsText(configFile, edited, env);
  const changed = edited === before ? undefined : await saveConfig(configFile, edited, env, { place });
  return { changed, entry: isGone ? undefined : entry };
}
