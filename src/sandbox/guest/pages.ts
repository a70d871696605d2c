/** `tool.pages(args)`: the items of all pages of a list, one after the other. */
import { call, type Target, ToolError } from "./calls.ts";

/** Pages of one list, so that an API that never says "the end" does not keep a program running. */
const maxPages = 10_000;

const nextKey = "claudikins/next";
const itemsKey = "claudikins/items";

interface PageResult {
  content?: { type?: string; text?: string }[];
  structuredContent?: unknown;
  _meta?: Record<string, unknown>;
}

/** Each page is a call of its own. The next one is asked for when the items of the page before are used. */
export async function* pagesOf(target: Target, args: unknown): AsyncGenerator<unknown, void, undefined> {
  let asked = args;
  for (let page = 1; page <= maxPages; page++) {
    const result = (await call(target, asked)) as PageResult;
    yield* itemsIn(result, target.id);
    const next = result._meta?.[nextKey] as { arguments?: object } | undefined;
    if (!next?.arguments) return;
    const following = { ...(asked as object | undefined), ...next.arguments };
    if (JSON.stringify(following) === JSON.stringify(asked)) throw endless(target.id, `page ${page} leads to itself`);
    asked = following;
  }
  throw endless(target.id, `it has more than ${maxPages} pages`);
}

function itemsIn(result: PageResult, id: string): unknown[] {
  const path = (result._meta?.[itemsKey] ?? []) as string[];
  let value: unknown = result.structuredContent ?? JSON.parse(result.content?.[0]?.text ?? "null");
  for (const name of path) value = (value as Record<string, unknown> | null | undefined)?.[name];
  if (Array.isArray(value)) return value;
  // Some APIs leave an empty list out.
  if (value === undefined || value === null) return [];
  throw new ToolError({
    code: "TOOL_FAILED",
    message: `${id}: the result has no list at ${path.join(".") || "its top"}`,
    hint: `Call ${id}(args), and look at the result.`,
  });
}

function endless(id: string, why: string): ToolError {
  return new ToolError({
    code: "TOOL_FAILED",
    message: `${id}: ${why}`,
    hint: "Narrow the list with the arguments, or leave the loop when you have enough.",
  });
}
