/** The list of executions: as long as it is, only what is in the window is drawn. One row has the Tab stop, and arrows move it. */
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { PageExecution } from "../../activity-contract.ts";
import { keptUnchanged } from "../unchanged.ts";
import { useWindowRoving } from "../window-roving.ts";
import { useIsWide, useWindowRows } from "../window-rows.ts";
import { RowContent } from "./row.tsx";

/** Width from which a row is one line, and the heights of rows, in pixels. */
const [oneLinePixels, lowRowPixels, highRowPixels] = [820, 40, 68];

/** Rows before the end of the list at which the next page is loaded. */
const rowsAhead = 30;

interface ListProps {
  rows: readonly PageExecution[];
  chosen: string | undefined;
  onChoose(id: string): void;
  /** Undefined if there are no more. */
  onMore: (() => void) | undefined;
  /** Gets the number of rows above the end of the window. */
  onSeen(rows: number): void;
}

export function ActivityList({ rows, chosen, onChoose, onMore, onSeen }: ListProps) {
  const list = useRef<HTMLUListElement>(null);
  const isWide = useIsWide(list, oneLinePixels);
  const rowPixels = isWide ? lowRowPixels : highRowPixels;
  const shown = useWindowRows(list, rows.length, rowPixels);
  const ids = useMemo(() => rows.map(({ id }) => id), [rows]);
  const { stop, setCurrent, onKeyDown } = useWindowRoving(list, ids, shown.scrollTo);

  useEffect(() => {
    onSeen(shown.end);
    if (shown.end > rows.length - rowsAhead) onMore?.();
  }, [shown.end, rows.length, onMore, onSeen]);

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
        {rows.slice(shown.from, shown.end).map((execution, place) => (
          <Row
            key={execution.id}
            execution={execution}
            place={shown.from + place}
            total={onMore ? -1 : rows.length}
            pixels={rowPixels}
            isChosen={execution.id === chosen}
            isStop={execution.id === stop}
            onFocus={setCurrent}
            onChoose={onChoose}
          />
        ))}
      </ul>
    </div>
  );
}

interface RowProps {
  execution: PageExecution;
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

const Row = keptUnchanged(({ execution, place, total, pixels, isChosen, isStop, onFocus, onChoose }: RowProps) => {
  const { id } = execution;
  return (
    <li
      aria-setsize={total}
      aria-posinset={place + 1}
      style={{ height: `${pixels}px`, transform: `translateY(${place * pixels}px)` }}
    >
      <button
        type="button"
        class="activity-row"
        aria-current={isChosen ? "true" : undefined}
        tabIndex={isStop ? 0 : -1}
        data-item={id}
        onFocus={() => onFocus(id)}
        onClick={() => onChoose(id)}
      >
        <RowContent execution={execution} />
      </button>
    </li>
  );
});
