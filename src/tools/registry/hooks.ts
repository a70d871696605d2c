/**
 * The hooks that lead agents to the registry: the descriptions of our tools, and three texts (see hook-texts.ts). Each text
 * teaches a mark such as `via:skill`, which agents put into a query, a comment of code, or the arguments of a generated file.
 * The descriptions need no mark, because an agent that calls search_tools has read its description.
 */

export const markedHooks = ["claude-md", "skill", "readme"] as const;

export type MarkedHook = (typeof markedHooks)[number];

export type Hook = "description" | MarkedHook | "none";

export const hooks: readonly Hook[] = ["description", ...markedHooks, "none"];

/** How the agent uses the registry: through its host, a generated file, or a shell. */
export const hookWays = ["serve", "files", "shell"] as const;

export type HookWay = (typeof hookWays)[number];

/** The key in the ledger. */
export function hookKey(way: HookWay, hook: Hook): string {
  return `${way} ${hook}`;
}

export function markOf(hook: MarkedHook): string {
  return `via:${hook}`;
}

const mark = new RegExp(`(?<![\\w-])via:(${markedHooks.join("|")})(?![\\w-])`);

/** The hook whose mark is in the text. */
export function hookIn(text: string): MarkedHook | undefined {
  return mark.exec(text)?.[1] as MarkedHook | undefined;
}

/** The query without the mark. */
export function withoutMark(query: string): string {
  return query.replace(mark, "").trim();
}
