/**
 * What leads agents to the registry. Four places tell of it: the descriptions of our tools, and three texts (see
 * hook-texts.ts). Each text teaches its own mark, a word like `via:skill`, which comes along in a query, in a comment of
 * code, or behind the arguments of a generated file. The descriptions need none: nobody calls search_tools who has not read
 * its own.
 */

export const markedHooks = ["claude-md", "skill", "readme"] as const;

export type MarkedHook = (typeof markedHooks)[number];

export type Hook = "description" | MarkedHook | "none";

export const hooks: readonly Hook[] = ["description", ...markedHooks, "none"];

/** How the agent came: as the host's model, through a generated file, or from a shell. */
export const doors = ["serve", "files", "shell"] as const;

export type Door = (typeof doors)[number];

/** As the ledger counts it. */
export function hookKey(door: Door, hook: Hook): string {
  return `${door} ${hook}`;
}

export function markOf(hook: MarkedHook): string {
  return `via:${hook}`;
}

const mark = new RegExp(`(?<![\\w-])via:(${markedHooks.join("|")})(?![\\w-])`);

/** What the text says of where its writer has read of us. */
export function hookIn(text: string): MarkedHook | undefined {
  return mark.exec(text)?.[1] as MarkedHook | undefined;
}

/** The same words, to be searched for. */
export function withoutMark(query: string): string {
  return query.replace(mark, "").trim();
}
