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

function add(
  name: string,
  entryType: Entry["entryType"],
  startTime: number,
  duration: number,
  detail?: unknown,
): Entry {
  const entry = { name, entryType, startTime, duration, detail: detail ?? null };
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

interface MeasureOptions {
  start?: unknown;
  end?: unknown;
  detail?: unknown;
}

export const performance = {
  now: (): number => host.now(),
  get timeOrigin(): number {
    return Date.now() - host.now();
  },
  mark: (name: string, options: { startTime?: number; detail?: unknown } = {}): Entry =>
    add(String(name), "mark", options.startTime ?? host.now(), 0, options.detail),
  measure: (name: string, startOrOptions?: unknown, endMark?: unknown): Entry => {
    const options: MeasureOptions =
      typeof startOrOptions === "object" && startOrOptions !== null
        ? startOrOptions
        : { start: startOrOptions, end: endMark };
    const start = timeOf(options.start, 0);
    return add(String(name), "measure", start, timeOf(options.end, host.now()) - start, options.detail);
  },
  getEntries: (): Entry[] => [...entries],
  getEntriesByName: (name: string): Entry[] => entries.filter((entry) => entry.name === name),
  getEntriesByType: (type: string): Entry[] => entries.filter((entry) => entry.entryType === type),
  clearMarks: (name?: string): void => clear("mark", name),
  clearMeasures: (name?: string): void => clear("measure", name),
  toJSON: () => ({ timeOrigin: performance.timeOrigin }),
};

function clear(type: Entry["entryType"], name: string | undefined): void {
  entries = entries.filter((entry) => entry.entryType !== type || (name !== undefined && entry.name !== name));
}
