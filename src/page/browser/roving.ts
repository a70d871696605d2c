/** Lists with one Tab stop: other keys lead to the other items. */
import { useRef, useState } from "preact/hooks";
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
