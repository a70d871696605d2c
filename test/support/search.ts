/** Searches as an agent does. */
import { callSearchTools } from "../../src/server/tools/search-tools.ts";
import type { Toolbox } from "../../src/toolbox/toolbox.ts";

/** The lines of the answer of `search_tools`. */
export async function searchLines(args: Record<string, unknown>, toolbox: Toolbox): Promise<string[]> {
  const { content } = await callSearchTools(args, toolbox, new AbortController().signal);
  return (content as { text: string }[])[0]!.text.split("\n");
}
