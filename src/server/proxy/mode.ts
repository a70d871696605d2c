/** Which way a session is served: `auto` is decided here, once, from what the registry knows. */
import type { Toolbox } from "../../flows/toolbox.ts";

/** What direct mode is made of is loaded only where that counts. */
export async function sessionMode(toolbox: Toolbox): Promise<"code" | "direct"> {
  const { mode, servers } = toolbox.config;
  if (mode !== "auto") return mode;
  const unknown = [...servers.values()].filter(({ name, needs }) => needs.length === 0 && !toolbox.known(name));
  // What nobody has seen may be of any size.
  if (servers.size === 0 || unknown.length > 0) return "code";
  const { fitsDirectly } = await import("./size.ts");
  return fitsDirectly(toolbox) ? "direct" : "code";
}
