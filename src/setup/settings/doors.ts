/** Makes and removes doors in claudikins.json. */
import { ClaudikinsError } from "../../base/errors.ts";
import { isObject } from "../../base/json-object.ts";
import { type ConfigFile, configAsText } from "../../config/config-file.ts";
import { type DoorEntry, doorCalled, noSuchDoor } from "../../config/doors.ts";
import { parseJson, removeMembers, setMember } from "../../config/edit/json.ts";
import type { Environment } from "../../config/environment.ts";
import type { Decider } from "../../store/audit/event.ts";
import { saveConfig } from "../trust/trust-config.ts";
import type { ChangedText } from "./policy-changes.ts";

interface DoorOptions {
  /** Whether a door of this name may be replaced. */
  replaces?: boolean;
  /** How to confirm the replacement, for an error. */
  replaceHint?: string;
  place?: Decider["place"];
}

interface DoorParts {
  servers: string[];
  /** Patterns of tools, like `deny` and `ask`. */
  allow: string[];
  deny: string[];
  /** The tools that need a person's consent for each call. */
  ask: string[];
  instructions?: string | undefined;
}

/** The entry of a door. Empty lists are left out. */
export function doorOf({ servers, allow, deny, ask, instructions }: DoorParts): DoorEntry {
  const tools = {
    ...(allow.length > 0 ? { allow } : {}),
    ...(deny.length > 0 ? { deny } : {}),
    ...(ask.length > 0 ? { confirm: Object.fromEntries(ask.map((tool) => [tool, "always" as const])) } : {}),
  };
  return {
    ...(servers.length > 0 ? { servers } : {}),
    ...(Object.keys(tools).length > 0 ? { tools } : {}),
    ...(instructions === undefined ? {} : { instructions }),
  };
}

/** Throws USAGE if there is a door of this name, CONFIG_INVALID for a door that could not be opened, and what writing the file throws. */
export async function addDoor(
  door: string,
  entry: DoorEntry,
  configFile: ConfigFile,
  env: Environment,
  { replaces = false, replaceHint = "remove it first", place }: DoorOptions = {},
): Promise<ChangedText> {
  const { file, text, ownNames } = configFile;
  if (Object.hasOwn(doorsIn(configFile), door) && !replaces) {
    throw new ClaudikinsError("USAGE", `${file} already has the door "${door}"`, {
      hint: `To replace it, ${replaceHint}.`,
    });
  }
  const edited = setMember(text, ["doors", door], entry, file);
  const config = await configAsText(configFile, edited, env);
  const own = ownNames.map((name): [string, object] => [name, {}]);
  doorCalled(door, { [door]: entry }, { file, servers: new Map([...config.servers, ...config.disabled, ...own]) });
  return saveConfig(configFile, edited, env, { place });
}

/** Throws DOOR_NOT_FOUND, and what writing the file throws. */
export async function removeDoors(
  names: readonly string[],
  configFile: ConfigFile,
  env: Environment,
  place?: Decider["place"],
): Promise<ChangedText> {
  const { file, text } = configFile;
  const doors = doorsIn(configFile);
  const unknown = names.find((name) => !Object.hasOwn(doors, name));
  if (unknown !== undefined) throw noSuchDoor(unknown, Object.keys(doors), file);
  const isLast = names.length === Object.keys(doors).length;
  const edited = isLast ? removeMembers(text, [], ["doors"], file) : removeMembers(text, ["doors"], names, file);
  await configAsText(configFile, edited, env);
  return saveConfig(configFile, edited, env, { place });
}

export function doorsIn({ text, file }: Pick<ConfigFile, "text" | "file">): Record<string, unknown> {
  const { doors } = parseJson(text, file);
  return isObject(doors) ? doors : {};
}
