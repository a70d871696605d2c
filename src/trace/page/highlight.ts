/** Code as lines of HTML, its words in colours. What is not understood is shown without any. */
import { escaped, Html } from "./html.ts";

const token = new RegExp(
  [
    String.raw`(?<comment>\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$))`,
    String.raw`(?<string>"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?|${"`"}(?:\\[\s\S]|[^${"`"}\\])*${"`"}?)`,
    String.raw`(?<number>\b\d[\w.]*)`,
    String.raw`(?<keyword>\b(?:${"as async await break case catch class const continue default delete do else export extends false finally for from function if import in instanceof interface let new null of return switch this throw true try type typeof undefined using var void while yield".replaceAll(" ", "|")})\b)`,
    String.raw`(?<word>[$_\p{L}][$\w]*)`,
  ].join("|"),
  "gu",
);

export function highlighted(code: string): Html[] {
  let result = "";
  let done = 0;
  for (const { 0: text, index, groups = {} } of code.matchAll(token)) {
    const [kind] = Object.entries(groups).find(([, found]) => found !== undefined) ?? ["word"];
    result += escaped(code.slice(done, index)) + (kind === "word" ? escaped(text) : spans(text, kind));
    done = index + text.length;
  }
  return (result + escaped(code.slice(done))).split("\n").map((line) => new Html(line));
}

/** One on each line. */
function spans(text: string, kind: string): string {
  return text
    .split("\n")
    .map((line) => `<span class="${kind}">${escaped(line)}</span>`)
    .join("\n");
}
