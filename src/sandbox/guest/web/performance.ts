/** `performance`: the clock, marks and measures. */
import { host } from "../host.ts";

interface Entry {
  name: string;
  entryType: "mark" | "measure";
  startTime: number;
  duration: number;
  detail: unknown;
}

let entries: Entry[] = [];

function add(entry: Entry): Entry {
  entries.push(entry);
  return entry;
}

/** Returns a time in milliseconds. The argument is a time or the name of a mark. */
function timeOf(mark: unknown, otherwise: number): number {
  if (mark === undefined) return otherwise;
  if (typeof mark === "number") return mark;
  const found = entries.findLast(({ name, entryType }) => entryType === "mark" && name === mark);
  if (!found) throw new SyntaxError(`There is no mark "${mark}"`);
  return found.startTime;
}

export const performance = {
  now: (): number => host.now(),
  get timeOrigin(): number {
    return Date.now() - host.now();
  },
  mark: (name: string, { startTime = host.now(), detail = null }: { startTime?: number; detail?: unknown } = {}) =>
    add({ name: String(name), entryType: "mark", startTime, duration: 0, detail }),
  measure: (name: string, startOrOptions?: unknown, endMark?: unknown) => {
    const isOptions = typeof startOrOptions === "object" && startOrOptions !== null;
    const options: { start?: unknown; end?: unknown; detail?: unknown } = isOptions
      ? startOrOptions
      : { start: startOrOptions, end: endMark };
    const startTime = timeOf(options.start, 0);
    const duration = timeOf(options.end, host.now()) - startTime;
    return add({ name: String(name), entryType: "measure", startTime, duration, detail: options.detail ?? null });
  },
  getEntries: () => [...entries],
  getEntriesByName: (name: string) => entries.filter((entry) => entry.name === name),
  getEntriesByType: (type: string) => entries.filter((entry) => entry.entryType === type),
  clearMarks: (name?: string) => clear("mark", name),
  clearMeasures: (name?: string) => clear("measure", name),
  toJSON: () => ({ timeOrigin: performance.timeOrigin }),
};

function clear(type: Entry["entryType"], name: string | undefined): void {
  entries = entries.filter((entry) => entry.entryType !== type || (name !== undefined && entry.name !== name));
}
