/** Takes code out of Markdown fences, in linear time. Lines keep their numbers. */

import { maxFenceChars } from "../limits.ts";

/** The code of a text that is one fence and nothing else; any other text unchanged. */
export function withoutFences(source: string): string {
  // A `#!` line is not code.
  if (source.startsWith("#!")) return source.replace(/^.*/, "");
  const [head, mark] = /^\s*(```|~~~)/.exec(source) ?? [];
  if (head === undefined || mark === undefined) return source;
  const start = source.indexOf("\n", head.length) + 1;
  const end = source.trimEnd().length - mark.length;
  if (start === 0 || end < start || !source.startsWith(mark, end)) return source;
  const body = source.slice(start, end);
  return onSameLines(source.slice(0, start), body.endsWith("\n") ? body.slice(0, -1) : body);
}

/** The code in the only fence of a text; undefined if there are several or none. */
export function onlyFence(text: string): { code: string } | undefined {
  let only: { start: number; end: number } | undefined;
  let open: number | undefined;
  for (let at = 0; at < text.length; ) {
    const next = text.indexOf("\n", at) + 1 || text.length + 1;
    const line = text.slice(at, Math.min(next - 1, at + maxFenceChars)).trimStart();
    if (open === undefined) {
      if (line.startsWith("```")) open = next;
    } else if (line.trimEnd() === "```") {
      if (only) return undefined;
      only = { start: open, end: at };
      open = undefined;
    }
    at = next;
  }
  return only && { code: onSameLines(text.slice(0, only.start), text.slice(only.start, only.end)) };
}

function onSameLines(before: string, code: string): string {
  return before.replace(/[^\n]/g, "") + code;
}
