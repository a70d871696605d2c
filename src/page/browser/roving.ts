/** Lists with one Tab stop: arrow keys, Home and End lead to the other items. */
import { useRef, useState } from "preact/hooks";

const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 };

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
    if (event.altKey || event.ctrlKey || event.metaKey || target.closest("select, input, textarea, pre")) return;
    const items = [...(around.current?.querySelectorAll<HTMLElement>("[data-item]") ?? [])];
    const at = items.findIndex((each) => each.contains(target));
    const step = steps[event.key];
    let to: number;
    if (step !== undefined) to = Math.min(items.length - 1, Math.max(0, at + step));
    else if (event.key === "Home") to = 0;
    else if (event.key === "End") to = items.length - 1;
    else return;
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
