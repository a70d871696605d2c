/** The lines in searches and lists about tools that are held because their definitions changed. */
import { counted } from "../../base/counted.ts";
import { shellWord } from "../../base/shell-word.ts";
import { oneLine } from "../../base/visible-text.ts";
import { maxHintedNames, maxShownNameChars } from "../limits.ts";
import { type RegistryServer, toolId } from "../model.ts";

/** One line for each server that has held tools. It says what the user can do. */
export function heldLines(servers: readonly RegistryServer[]): string[] {
  return servers.flatMap(({ name, held }) => {
    if (!held) return [];
    const ids = held.tools.map((tool) => oneLine(toolId(name, tool.name), maxShownNameChars));
    const more = ids.length > maxHintedNames ? ` and ${ids.length - maxHintedNames} more` : "";
    const shown = ids.slice(0, maxHintedNames).join(", ");
    return [
      `Held: ${counted(ids.length, "tool")} whose definitions changed after they were accepted (${shown}${more}). The user can see how: claudikins review ${shellWord(name)}`,
    ];
  });
}
