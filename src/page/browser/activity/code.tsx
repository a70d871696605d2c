/** The code of an execution. A line that made calls leads to them in the list of calls. */
import { counted } from "../../../base/counted.ts";
import type { PageAbout } from "../../activity-contract.ts";
import { linesOf } from "../code-lines.tsx";
import { visibleLines } from "../text.tsx";

/** The id of a call in the list of calls. */
export const callId = (place: number) => `call-${place}`;

/** The id of a line of the code. */
export const lineId = (line: number) => `line-${line}`;

export function CodeWithCalls({ about: { code, calls, failedLine } }: { about: PageAbout }) {
  if (code === undefined) return null;
  const byLine = Map.groupBy(calls.keys(), (place) => calls[place]?.line);
  return (
    <section class="part" aria-labelledby="code">
      <h3 id="code">Code</h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled with the arrow keys. */}
      <ol class="code" tabIndex={0} aria-label="Code">
        {linesOf(visibleLines(code)).map((content, index) => {
          const line = index + 1;
          const places = byLine.get(line);
          const kind = failedLine === line ? "failing" : places ? "calling" : undefined;
          return (
            <li id={lineId(line)} class={kind} key={line} tabIndex={-1}>
              <code>{content}</code>
              {places && (
                <button
                  type="button"
                  class="line-calls"
                  aria-label={`Line ${line}: ${counted(places.length, "call")}`}
                  onClick={() => show(callId(places[0] ?? 0))}
                >
                  {counted(places.length, "call")}
                </button>
              )}
            </li>
          );
        })}
      </ol>
    </section>
  );
}

/** Leads to a line of the code, or to a call. */
export function show(id: string): void {
  const element = document.getElementById(id);
  element?.scrollIntoView({ block: "nearest" });
  element?.focus();
}
