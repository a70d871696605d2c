/** The calendar of the shop, and the times of its orders: 2025 with its seasons, weekends and evenings, up to the present. */
import type { Random } from "../random.ts";

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
export const YEAR_START_MS = Date.UTC(2025, 0, 1);
export const YEAR_END_MS = Date.UTC(2026, 0, 1) - 1;
/** The shop's present. It does not advance by itself, so that the same calls return the same times. */
export const NOW_MS = Date.UTC(2025, 11, 31, 18);

/** Returns a time such as `2025-03-04T10:11:12Z`. The shop's times have no milliseconds. */
export function isoTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

const BY_MONTH = [8, 7, 8, 8, 8, 7, 7, 7, 9, 10, 13, 13];
const BY_WEEKDAY = [11, 9, 8, 8, 9, 8, 10];
const BY_HOUR = [2, 1, 1, 1, 1, 2, 4, 6, 8, 10, 11, 11, 12, 10, 9, 9, 10, 12, 14, 16, 17, 14, 9, 4];

const BUSIEST = Math.max(...BY_MONTH) * Math.max(...BY_WEEKDAY) * Math.max(...BY_HOUR);

/** Returns `count` times between the start of the year and the present, sorted. Busy hours are more likely (rejection sampling). */
export function orderTimes(random: Random, count: number): number[] {
  const times: number[] = [];
  while (times.length < count) {
    const ms = YEAR_START_MS + random.int(0, (NOW_MS - YEAR_START_MS) / 1000) * 1000;
    const date = new Date(ms);
    const busy = BY_MONTH[date.getUTCMonth()]! * BY_WEEKDAY[date.getUTCDay()]! * BY_HOUR[date.getUTCHours()]!;
    if (random.int(1, BUSIEST) <= busy) times.push(ms);
  }
  return times.sort((a, b) => a - b);
}
