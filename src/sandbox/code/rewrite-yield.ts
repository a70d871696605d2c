/**
 * Gives a `yield` without a value, as in `[...yield]`, the value `void 0`. sucrase cannot parse it before a bracket
 * or a comma.
 */
import { tokenizer } from "acorn";
import { Edits } from "./edits.ts";

const bareYield = /\byield\s*[\]}),:]/;

/** Returns the text with the same lines. */
export function rewriteYield(source: string): string {
  if (!bareYield.test(source)) return source;
  const edits = new Edits(source);
  let inEnum = false;
  // The two tokens before the current one.
  let [before, last, lastEnd] = ["", "", 0];
  try {
    for (const { start, end } of tokenizer(source, { ecmaVersion: "latest", sourceType: "module" })) {
      const text = source.slice(start, end);
      if (last === "yield" && !inEnum && isExpression(before, text)) edits.insert(lastEnd, " void 0");
      if (before === "enum") inEnum = true;
      if (text === "}") inEnum = false;
      [before, last, lastEnd] = [last, text, end];
    }
  } catch {
    // The parser reports the syntax error.
    return source;
  }
  return edits.apply();
}

/** Whether `yield` is an expression, and not the name of a member, an export or a key. */
function isExpression(before: string, after: string): boolean {
  if (/^(?:\??\.|as|get|set|static|async)$/.test(before)) return false;
  return after === ":" ? before === "?" || before === "case" : ["]", "}", ")", ","].includes(after);
}
