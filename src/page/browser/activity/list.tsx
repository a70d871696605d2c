/** The list of executions: as long as it is, only what is in the window is drawn. One row has the Tab stop, and arrows move it. */
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { PageExecution } from "../../activity-contract.ts";
import { useWindowRoving } from "../roving.ts";
import { Text } from "../text.tsx";
import { keptUnchanged, useIsWide, useWindowRows } from "../window-rows.ts";
import { placeText, RowContent } from "./row.tsx";

/** Width from which a row is one line, and the heights of rows, in pixels. */
const [oneLinePixels, lowRowPixels, highRowPixels] = [820, 40, 68];

/** Rows before the end of the list at which the next page is loaded. */
const rowsAhead = 30;

/** Characters of the name of a session, as in the detail of an execution. */
export const shownSessionChars = 8;

type Line = { execution: PageExecution } | { heading: string; session?: string | undefined };

interface ListProps {
  rows: readonly PageExecution[];
  /** Each session has a heading. The rows are in its order. */
  isBySession: boolean;
  chosen: string | undefined;
  onChoose(id: string): void;
  /** Undefined if there are no more. */
  onMore: (() => void) | undefined;
  /** Gets the number of rows above the end of the window. */
  onSeen(rows: number): void;
}

export function ActivityList({ rows, isBySession, chosen, onChoose, onMore, onSeen }: ListProps) {
  const list = useRef<HTMLUListElement>(null);
  const isWide = useIsWide(list, oneLinePixels);
  const rowPixels = isWide ? lowRowPixels : highRowPixels;
  const lines = useMemo(() => linesOf(rows, isBySession), [rows, isBySession]);
  const shown = useWindowRows(list, lines.length, rowPixels);
  const ids = useMemo(() => lines.map(idOf), [lines]);
  const { stop, setCurrent, onKeyDown } = useWindowRoving(list, ids, shown.scrollTo);

  useEffect(() => {
    onSeen(shown.end);
    if (shown.end > lines.length - rowsAhead) onMore?.();
  }, [shown.end, lines.length, onMore, onSeen]);

  return (
    <div class={isWide ? "activity wide" : "activity high"}>
      {isWide && (
        <div class="activity-head about" aria-hidden="true">
          <span />
          <span>State</span>
          <span>Execution</span>
          <span>Servers</span>
          <span>By</span>
          <span class="took">
            <span class="scale">
              <span>1 s</span>
              <span>1 min</span>
            </span>
            <span class="amount">Took</span>
          </span>
          <span class="cell-age">Began</span>
        </div>
      )}
      <ul class="activity-rows" ref={list} style={{ height: `${shown.height}px` }} onKeyDown={onKeyDown}>
        {lines.slice(shown.from, shown.end).map((line, at) => {
          const [place, id] = [shown.from + at, idOf(line)];
          return (
            <DrawnLine
              key={id ?? `line ${place}`}
              {...("execution" in line ? { execution: line.execution } : line)}
              place={place}
              total={onMore ? -1 : lines.length}
              pixels={rowPixels}
              isChosen={id !== undefined && id === chosen}
              isStop={id !== undefined && id === stop}
              onFocus={setCurrent}
              onChoose={onChoose}
            />
          );
        })}
      </ul>
    </div>
  );
}

const idOf = (line: Line) => ("execution" in line ? line.execution.id : undefined);

function linesOf(rows: readonly PageExecution[], isBySession: boolean): Line[] {
  if (!isBySession) return rows.map((execution) => ({ execution }));
  let last: string | undefined;
  return rows.flatMap((execution): Line[] => {
    const { isOver, session } = execution;
    const by = placeText(execution);
    const group = isOver ? (session ?? by) : "";
    if (group === last) return [{ execution }];
    last = group;
    return [isOver ? { heading: by, session } : { heading: "Running or waiting" }, { execution }];
  });
}

interface LineProps {
  execution?: PageExecution;
  heading?: string;
  /** The session to which a heading belongs. */
  session?: string | undefined;
  /** The place in the list, from 0. */
  place: number;
  /** The number of rows; -1 if more may be loaded. */
  total: number;
  pixels: number;
  isChosen: boolean;
  isStop: boolean;
  onFocus(id: string): void;
  onChoose(id: string): void;
}

const DrawnLine = keptUnchanged((line: LineProps) => {
  const { execution, heading, session, place, total, pixels, isChosen, isStop, onFocus, onChoose } = line;
  return (
    <li
      aria-setsize={total}
      aria-posinset={place + 1}
      style={{ height: `${pixels}px`, transform: `translateY(${place * pixels}px)` }}
    >
      {heading !== undefined && (
        <h3 class="activity-heading">
          <Text>{heading}</Text>
          {session !== undefined && (
            <span class="about">
              {" "}
              session <code>{session.slice(0, shownSessionChars)}</code>
            </span>
          )}
        </h3>
      )}
      {execution && (
        <button
          type="button"
          class="activity-row"
          aria-current={isChosen ? "true" : undefined}
          tabIndex={isStop ? 0 : -1}
          data-item={execution.id}
          onFocus={() => onFocus(execution.id)}
          onClick={() => onChoose(execution.id)}
        >
          <RowContent execution={execution} />
        </button>
      )}
    </li>
  );
});
