/** `yield` without a value before a bracket or a comma, `[...yield]`: sucrase looks for a value there. It is given one that changes nothing. */
import { tokenizer } from "acorn";
import { Edits } from "./edits.ts";

const bareYield = /\byield\s*[\]}),:]/;

/** The text with the same lines; the same text where there is no such `yield`. */
export function rewriteYield(source: string): string {
  if (!bareYield.test(source)) return source;
  const edits = new Edits(source);
  let inEnum = false;
  // The last two before the one that is looked at.
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
    // The parser says what is wrong with it.
    return source;
  }
  return edits.apply();
}

/** Not the name of a member, of an export or of a key. */
function isExpression(before: string, after: string): boolean {
  if (/^(?:\??\.|as|get|set|static|async)$/.test(before)) return false;
  return after === ":" ? before === "?" || before === "case" : ["]", "}", ")", ","].includes(after);
}
