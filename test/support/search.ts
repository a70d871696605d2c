/** Searches as an agent does. */

import type { Toolbox } from "../../src/app/toolbox.ts";
import { callSearchTools } from "../../src/serve/tools/search-tools.ts";

/** The lines of the answer of `search_tools`. */
export async function searchLines(args: Record<string, unknown>, toolbox: Toolbox): Promise<string[]> {
  const { content } = await callSearchTools(args, toolbox, new AbortController().signal);
  return (content as { text: string }[])[0]!.text.split("\n");
}
