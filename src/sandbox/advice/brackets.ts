/** Brackets that are not closed, or closed by others. */
import { Lines } from "../code/edits.ts";

const closing: Record<string, string> = { "(": ")", "[": "]", "{": "}" };

interface Open {
  bracket: string;
  line: number;
}

/** Undefined where all have their counterparts. */
export function unbalanced(source: string, error: { line: number; column: number }): string | undefined {
  const open: Open[] = [];
  const lines = new Lines(source);
  for (const token of source.matchAll(tokens)) {
    const { line } = lines.at(token.index);
    const [text] = token;
    const last = open.at(-1);
    if (text in closing) open.push({ bracket: text, line });
    else if (/^[)\]}]$/.test(text)) {
      if (!last) return `The ${text} on line ${line} has no opening bracket.`;
      if (closing[last.bracket] !== text) {
        return `The ${last.bracket} on line ${last.line} is not closed: line ${line} has ${text} where ${closing[last.bracket]} is missing.`;
      }
      open.pop();
    }
  }
  const left = open.at(-1);
  if (!left || error.line < left.line) return undefined;
  return `The ${left.bracket} on line ${left.line} is never closed: ${closing[left.bracket]} is missing.`;
}

/** Comments and texts are passed over; of texts in backquotes, what is put in is not looked at. */
const tokens =
  /\/\/[^\n]*|\/\*[\s\S]*?\*\/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\[\s\S])*`|\/(?![*/\s])(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*(?=\s*[.,;)\]])|[()[\]{}]/g;
