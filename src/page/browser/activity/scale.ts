/** The scale of times that all rows share, and short texts for times. */

import { dayMs } from "../../../base/units.ts";

/** The bar is empty for shorter times and full for longer ones, in milliseconds. */
const [shortestMs, longestMs] = [10, 600_000];

/** The part of the track that a time fills, from 0 to 1. The scale is logarithmic, because times differ by orders of magnitude. */
export function barShare(ms: number): number {
  const share = Math.log(Math.max(ms, shortestMs) / shortestMs) / Math.log(longestMs / shortestMs);
  return Math.min(1, Math.max(0.02, share));
}

/** `15:00`, `Tue 15:00` within six days, or `24 Nov`. In the zone of the browser. */
export function shortTime(at: number, now: number): string {
  const date = new Date(at);
  if (Math.abs(at - now) > 6 * dayMs) return date.toLocaleDateString(undefined, { day: "numeric", month: "short" });
  const time = date.toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" });
  const isToday = date.toDateString() === new Date(now).toDateString();
  return isToday ? time : `${date.toLocaleDateString(undefined, { weekday: "short" })} ${time}`;
}
