/** Searches as an agent does. */

import type { App } from "../../src/app/app.ts";
import { callSearchTools } from "../../src/serve/tools/search-tools.ts";

/** The lines of the answer of `search_tools`. */
export async function searchLines(args: Record<string, unknown>, app: App): Promise<string[]> {
  const { content } = await callSearchTools(args, app, new AbortController().signal);
  return (content as { text: string }[])[0]!.text.split("\n");
}
