/** The ledger in the user's database: the counts of all processes. Writes are summed up by day; later, days become months, and months years. */
import { counted } from "../../base/counted.ts";
import { parsedJson } from "../../base/json-object.ts";
import { dayMs } from "../../base/units.ts";
import type { CountRow } from "../../store/counts.ts";
import type { Store } from "../../store/store.ts";
import { ledgerKeptDays } from "../limits.ts";
import { Counts, type CountsJson } from "./counts.ts";

/** Months that are kept. Older months become years. */
const ledgerKeptMonths = 24;

/** Tools in one period. */
const maxCountedTools = 1_000;

/** Writes of counts until they are summed up by day. Readers sum up the rest. */
export const maxUnsummedWrites = 200;

/** Counts by `2026-11-21`, `2026-08` or `2024`. */
export type Periods = Map<string, Counts>;

interface LedgerContent {
  periods: Periods;
  /** One sentence if there are parts that could not be read. */
  problems: string[];
}

/** The date in the user's time zone. */
export function dayOf(date: Date): string {
  const two = (value: number) => String(value).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** The date in UTC. The first local date of a process takes 6 ms, because it loads the time zones. */
export function utcDayOf(date: Date): string {
  return date.toISOString().slice(0, 10);
}

/** Adds counts, and sums up what is there if many writes are. Throws FILE_NOT_WRITABLE, VERSION_TOO_OLD. */
export async function addCounts(store: Store, counts: Counts, now: Date): Promise<void> {
  const at = Math.floor(now.getTime() / 1_000);
  const json = JSON.stringify(counts.toJson());
  const sumUp = (rows: CountRow[]) => summedUp(rows, now);
  await store.counts.add({ at, period: null, json }, { above: maxUnsummedWrites, sumUp });
}

/** Reads all counts. `day` is the day of recent ones. Throws FILE_NOT_WRITABLE, VERSION_TOO_OLD. */
export async function readCounts(store: Store, day: (date: Date) => string = dayOf): Promise<LedgerContent> {
  const { periods, unread } = periodsOf(await store.counts.all(), day);
  const problems = unread.length === 0 ? [] : [`${counted(unread.length, "row")} of the ledger could not be read`];
  return { periods, problems };
}

/** Throws FILE_NOT_WRITABLE, VERSION_TOO_OLD. */
export async function resetLedger(store: Store): Promise<void> {
  await store.counts.removeAll();
}

/** Rows that cannot be read stay as they are. */
function summedUp(rows: CountRow[], now: Date): CountRow[] {
  const { periods, unread } = periodsOf(rows, dayOf);
  const sums = [...bounded(periods, now)].map(([period, counts]): CountRow => {
    return { at: null, period, json: JSON.stringify(counts.toJson()) };
  });
  return [...unread, ...sums];
}

function periodsOf(rows: readonly CountRow[], day: (date: Date) => string): { periods: Periods; unread: CountRow[] } {
  const periods: Periods = new Map();
  const unread: CountRow[] = [];
  for (const row of rows) {
    const period = row.period ?? day(new Date((row.at ?? 0) * 1_000));
    const counts = countsIn(row.json);
    if (counts) addTo(periods, period, counts);
    else unread.push(row);
  }
  return { periods, unread };
}

function countsIn(json: string): Counts | undefined {
  try {
    return Counts.from(parsedJson(json) as CountsJson);
  } catch {
    return undefined;
  }
}

function addTo(periods: Periods, name: string, counts: Counts): void {
  const known = periods.get(name);
  if (known) known.add(counts);
  else periods.set(name, counts);
}

/** Old days become months, and old months years. Each has a limited number of tools. */
function bounded(periods: Periods, now: Date): Periods {
  const summed: Periods = new Map();
  const firstDay = dayOf(new Date(now.getTime() - ledgerKeptDays * dayMs));
  const firstMonth = dayOf(new Date(now.getFullYear(), now.getMonth() - ledgerKeptMonths, 1)).slice(0, 7);
  for (const [name, counts] of [...periods].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const isOldDay = name.length === 10 && name < firstDay;
    const month = isOldDay ? name.slice(0, 7) : name;
    addTo(summed, month.length === 7 && month < firstMonth ? month.slice(0, 4) : month, counts);
  }
  return new Map([...summed].map(([name, counts]) => [name, counts.bounded(maxCountedTools)]));
}
