/** Reads in a tool's description whether the tool is deprecated, and which tools replace it. */

import type { RegistryTool } from "../model.ts";

/** Only this much of a description is read to see whether its tool is deprecated. */
const maxDeprecationChars = 2_000;

/** Descriptions of tools about deprecated things, such as packages, have the word in a sentence. */
const marks = [
  /^\W*(?:deprecated|obsolete)\b/i,
  /\bDEPRECATED\b|@deprecated\b/,
  /[([*]deprecated[)\]*:]/i,
  /\bdeprecated (?:alias|in favou?r of)\b/i,
  /\b(?:this|the) (?:tool|function|method|command|endpoint|action|operation)?\s*(?:is|was|has been) (?:now )?(?:deprecated|obsolete|superseded)\b/i,
];

const successor =
  /\b(?:use|using|favou?r of|(?:replaced|superseded) (?:by|with)|prefer|renamed to|moved to|alias (?:of|for))\s+(?:the\s+)?(?:new\s+)?[`"'*]*([\p{L}_][\p{L}\d_.-]*)/giu;

/** The words that may be the names of its successors; undefined if the tool is not deprecated. */
export function successorsOf({ title = "", description }: RegistryTool): string[] | undefined {
  const text = description.slice(0, maxDeprecationChars);
  if (!marks.some((mark) => mark.test(text) || mark.test(title))) return undefined;
  return Array.from(text.matchAll(successor), ([, name = ""]) => name.replace(/[.-]+$/, ""));
}
