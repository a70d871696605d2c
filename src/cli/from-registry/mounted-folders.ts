/** Shows the folders of this machine that a container would get, as their whole paths, and asks once more. */
import { expand } from "../../config/expand.ts";
import { visible } from "../../policy/visible.ts";
import { isOfSystem } from "../../setup/registries/mounts.ts";
import type { TemplateValues, Wanted } from "../../setup/registries/templates.ts";
import type { Io } from "../io.ts";
import { canAsk, confirm } from "../prompt.ts";

/** Whether the user agrees, or there is nothing to agree to. Throws CANCELLED. */
export async function agreesToFolders(wanted: readonly Wanted[], values: TemplateValues, io: Io): Promise<boolean> {
  const folders = wanted
    .filter(({ isTyped, isInMount }) => isTyped && isInMount)
    .flatMap(({ name }) => values.get(name) ?? []);
  if (folders.length === 0) return true;
  const lines = folders.map((folder) => {
    const path = expand(folder, io.env).value;
    const now = path === folder ? "" : ` (now ${path})`;
    return `  ${visible(folder + now)}${isOfSystem(path) ? ", which is a part of the system" : ""}\n`;
  });
  await io.stderr.write(`\nIts container gets from this machine, with everything in it:\n${lines.join("")}`);
  return canAsk(io) && confirm(io, "Is that right?");
}
