/** Lists with one Tab stop: other keys lead to the other items. */

import type { RefObject } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { placeAfter } from "./list-keys.ts";

interface Roving {
  /** The id of the item with the Tab stop. */
  current: string | undefined;
  /** For the element around all items. */
  list: { ref(element: HTMLElement | null): void; onKeyDown(event: KeyboardEvent): void };
  item(id: string): { tabIndex: number; "data-item": string; onFocus(): void };
}

export function useRoving(ids: readonly string[]): Roving {
  const [wanted, setWanted] = useState<string>();
  const around = useRef<HTMLElement | null>(null);
  const current = wanted !== undefined && ids.includes(wanted) ? wanted : ids[0];
  const onKeyDown = (event: KeyboardEvent) => {
    const target = event.target as HTMLElement;
    // Arrows have a meaning of their own in these.
    if (target.closest("select, input, textarea, pre")) return;
    const items = [...(around.current?.querySelectorAll<HTMLElement>("[data-item]") ?? [])];
    // A button may be beside its item.
    const at = items.findIndex((each) => (each.closest("li") ?? each).contains(target));
    const to = placeAfter(event, at, items.length);
    if (to === undefined) return;
    event.preventDefault();
    items[to]?.focus();
    items[to]?.scrollIntoView({ block: "nearest" });
  };
  const item = (id: string) => ({
    tabIndex: id === current ? 0 : -1,
    "data-item": id,
    onFocus: () => setWanted(id),
  });
  const ref = (element: HTMLElement | null) => {
    around.current = element;
  };
  return { current, list: { ref, onKeyDown }, item };
}

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
