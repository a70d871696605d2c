/** The list of executions: as long as it is, only what is in the window is drawn. One row has the Tab stop, and arrows move it. */
import { useEffect, useRef } from "preact/hooks";
import type { PageExecution } from "../../activity-contract.ts";
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
}

export function ActivityList({ rows, chosen, onChoose, onMore }: ListProps) {
  const list = useRef<HTMLUListElement>(null);
  const isWide = useIsWide(list, oneLinePixels);
  const shown = useWindowRows(list, rows.length, isWide ? lowRowPixels : highRowPixels);
  const { stop, setCurrent, onKeyDown } = useWindowRoving(
    list,
    rows.map(({ id }) => id),
    shown.scrollTo,
  );

  const last = shown.rows.at(-1)?.index ?? 0;
  useEffect(() => {
    if (last >= rows.length - rowsAhead) onMore?.();
  }, [last, rows.length, onMore]);

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
        {shown.rows.map(({ index, start, size }) => {
          const execution = rows[index];
          if (!execution) return null;
          const { id } = execution;
          return (
            <li
              key={id}
              aria-setsize={onMore ? -1 : rows.length}
              aria-posinset={index + 1}
              style={{ height: `${size}px`, transform: `translateY(${start - shown.margin}px)` }}
            >
              <button
                type="button"
                class="activity-row"
                aria-current={id === chosen ? "true" : undefined}
                tabIndex={id === stop ? 0 : -1}
                data-item={id}
                onFocus={() => setCurrent(id)}
                onClick={() => onChoose(id)}
              >
                <RowContent execution={execution} />
              </button>
            </li>
          );
        })}
      </ul>
    </div>
  );
}
