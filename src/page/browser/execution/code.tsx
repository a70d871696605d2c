/**
 * The code of an execution with its calls beside the lines. If contents were not recorded, it shows only the numbers of lines that make
 * calls.
 */

/** @jsxImportSource preact */
import type { ComponentChild } from "preact";
import { counted } from "../../../base/counted.ts";
import type { ExecutionRecord } from "../../../programs/trace/record.ts";
import { Panel } from "../panel.tsx";

interface CodeProps {
  record: ExecutionRecord;
  /** The rows of the calls in each line. */
  byLine: ReadonlyMap<number, number[]>;
}

export function Code({ record: { code, error }, byLine }: CodeProps) {
  if (code.text === undefined) return <CallingLines byLine={byLine} />;
  return (
    <Panel id="s-code" title="Code">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled with the arrow keys. */}
      <ol class="code" tabIndex={0} aria-label="Code">
        {linesOf(code.text).map((content, index) => {
          const line = index + 1;
          const rows = byLine.get(line);
          const kind = error?.line === line ? "failing" : rows ? "calling" : undefined;
          return (
            <li id={`L${line}`} class={kind} key={line}>
              <code>{content}</code>
              {rows && <Mark line={line} rows={rows} text={counted(rows.length, "call")} />}
            </li>
          );
        })}
      </ol>
    </Panel>
  );
}

/** The number of lines that are shown of a code. */
export const linesIn = (code: string) => shownCode(code).split("\n").length;

const shownCode = (code: string) => code.replace(/\n$/, "");

function CallingLines({ byLine }: Pick<CodeProps, "byLine">) {
  const lines = [...byLine].sort(([one], [other]) => one - other);
  return (
    <Panel id="s-code" title="Code">
      <p class="about">Only sizes were recorded. With --record, exec and serve also record contents.</p>
      {lines.length > 0 && (
        <ul class="lines">
          {lines.map(([line, rows]) => (
            <li id={`L${line}`} key={line}>
              <Mark line={line} rows={rows} text={`line ${line}: ${counted(rows.length, "call")}`} />
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

/** Leads from a line to its calls. */
function Mark({ line, rows, text }: { line: number; rows: number[]; text: string }) {
  return (
    <a class="mark" href={`#c${rows[0]}`} data-line={line} aria-label={`Line ${line}: ${counted(rows.length, "call")}`}>
      {text}
    </a>
  );
}

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
function linesOf(source: string): ComponentChild[][] {
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
