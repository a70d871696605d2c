/** The lines of a program with its tokens coloured. */

/** @jsxImportSource preact */
import type { ComponentChild } from "preact";

/** The number of lines that are shown of a code. */
export const linesIn = (code: string) => shownCode(code).split("\n").length;

const shownCode = (code: string) => code.replace(/\n$/, "");

const token = new RegExp(
  [
    String.raw`(?<comment>\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$))`,
    String.raw`(?<string>"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?|${"`"}(?:\\[\s\S]|[^${"`"}\\])*${"`"}?)`,
    String.raw`(?<number>\b\d[\w.]*)`,
    String.raw`(?<keyword>\b(?:${"as async await break case catch class const continue default delete do else export extends false finally for from function if import in instanceof interface let new null of return switch this throw true try type typeof undefined using var void while yield".replaceAll(" ", "|")})\b)`,
    // It keeps keywords and numbers from being found within names.
    String.raw`[$_\p{L}][$\w]*`,
  ].join("|"),
  "gu",
);

/** The code with its tokens coloured, by lines. */
export function linesOf(source: string): ComponentChild[][] {
  const code = shownCode(source);
  const lines: ComponentChild[][] = [[]];
  const add = (text: string, kind?: string) => {
    for (const [place, part] of text.split("\n").entries()) {
      if (place > 0) lines.push([]);
      if (part !== "") lines.at(-1)?.push(kind === undefined ? part : <span class={kind}>{part}</span>);
    }
  };
  let done = 0;
  for (const { 0: text, index, groups = {} } of code.matchAll(token)) {
    const [kind] = Object.entries(groups).find(([, found]) => found !== undefined) ?? [];
    add(code.slice(done, index));
    add(text, kind);
    done = index + text.length;
  }
  add(code.slice(done));
  return lines;
}
