/** One Tab stop in a list that draws only its visible rows. */
import type { RefObject } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { placeAfter } from "./list-keys.ts";

interface WindowRoving {
  /** The id of the row with the Tab stop. */
  stop: string | undefined;
  setCurrent(id: string): void;
  onKeyDown(event: KeyboardEvent): void;
}

/** `ids` has undefined for rows that cannot get the focus. Rows have their id as `data-item`. */
export function useWindowRoving(
  list: RefObject<HTMLElement | null>,
  ids: readonly (string | undefined)[],
  scrollTo: (place: number) => void,
): WindowRoving {
  const [current, setCurrent] = useState<string>();
  const isFocusWanted = useRef(false);
  const stop = useMemo(
    () => (current !== undefined && ids.includes(current) ? current : ids.find((id) => id !== undefined)),
    [ids, current],
  );
  // The row may be drawn only now.
  useLayoutEffect(() => {
    if (!isFocusWanted.current) return;
    const row = list.current?.querySelector<HTMLElement>(`[data-item="${CSS.escape(stop ?? "")}"]`);
    if (!row) return;
    isFocusWanted.current = false;
    row.focus({ preventScroll: true });
  });
  const onKeyDown = (event: KeyboardEvent) => {
    // Arrows have a meaning of their own in these.
    if ((event.target as HTMLElement).closest("select, input")) return;
    const at = ids.indexOf(stop);
    let to = placeAfter(event, at, ids.length);
    if (to === undefined) return;
    const step = to < at ? -1 : 1;
    while (to >= 0 && to < ids.length && ids[to] === undefined) to += step;
    const id = ids[to];
    if (id === undefined) return;
    event.preventDefault();
    isFocusWanted.current = true;
    setCurrent(id);
    scrollTo(to);
  };
  return { stop, setCurrent, onKeyDown };
}
