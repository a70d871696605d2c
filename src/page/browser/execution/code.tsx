/**
 * The code of an execution with its calls beside the lines. If contents were not recorded, it shows only the numbers of lines that make
 * calls.
 */

/** @jsxImportSource preact */
import { counted } from "../../../base/counted.ts";
import type { ExecutionRecord } from "../../../programs/trace/record.ts";
import { linesOf } from "../code-lines.tsx";
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
