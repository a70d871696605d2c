/** Finds the tools that the user's programs call most. */

import { dayMs } from "../../base/units.ts";
import { halfLifeDays } from "../limits.ts";
import type { EntryUse } from "./counts.ts";
import { type Periods, utcDayOf } from "./store.ts";

/**
 * The weight of each tool of a server's entry that was called with success, by name. Recent uses count more, and each doubling of the calls
 * of a day counts as much as the one before. Past weeks are counted if there are any, else past days, else today: so the weights of a
 * tool in use change once a week.
 */
export function toolWeights(periods: Periods, entry: string, now: Date): Map<string, number> {
  const uses = [...periods].flatMap(([period, { entries }]) => [...(entries.get(entry) ?? [])].map(useIn(period)));
  const end = [mondayOf(now), utcDayOf(now)].find((day) => uses.some(({ period }) => period < day));
  const weights = new Map<string, number>();
  for (const { period, tool, successes } of uses) {
    if (successes <= 0 || (end !== undefined && period >= end)) continue;
    const age = end === undefined ? 0 : (Date.parse(end) - Date.parse(lastDayOf(period))) / dayMs;
    const weight = Math.log2(1 + successes) * 0.5 ** (age / halfLifeDays);
    weights.set(tool, (weights.get(tool) ?? 0) + weight);
  }
  return weights;
}

const useIn =
  (period: string) =>
  ([tool, { calls, failures }]: [string, EntryUse]) => ({ period, tool, successes: calls - failures });

/** The Monday of a date's week, in UTC. */
function mondayOf(date: Date): string {
  const daysAgo = (date.getUTCDay() + 6) % 7;
  return utcDayOf(new Date(date.getTime() - daysAgo * dayMs));
}

/** The day of a period that is a day; a late day of a month or a year. */
function lastDayOf(period: string): string {
  return period + ["-12-28", "-28", ""][period.split("-").length - 1];
}
