/** The keys that move in a list: arrows, Page Up and Page Down, Home and End. */

const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 };

/** The place that the key leads to from the place `at`; undefined for other keys. */
export function placeAfter(
  { key, altKey, ctrlKey, metaKey }: KeyboardEvent,
  at: number,
  count: number,
): number | undefined {
  if (altKey || ctrlKey || metaKey) return undefined;
  if (key === "Home") return 0;
  if (key === "End") return count - 1;
  const step = steps[key];
  return step === undefined ? undefined : Math.min(count - 1, Math.max(0, at + step));
}
