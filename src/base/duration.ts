/** Durations as text, in one format for every surface. Nothing here may need Bun, because the page uses it too. */

import { dayMs, hourMs, minuteMs } from "./units.ts";

/**
 * A time that something took, or its limit: `8.4 ms`, `412 ms`, `1.2 s`, `14.5 s`, `3.7 min`, `2 h`, `12 days`. The next unit begins at two
 * of it, seconds at one.
 */
export function durationText(ms: number): string {
  // 999.6 ms is written as 1 s.
  if (ms < 999.5) return `${ms < 10 ? tenths(Math.max(ms, 0)) : Math.round(ms)} ms`;
  if (ms < 2 * minuteMs) return `${tenths(ms / 1_000)} s`;
  if (ms < 2 * hourMs) return `${tenths(ms / minuteMs)} min`;
  return ms < 2 * dayMs ? `${tenths(ms / hourMs)} h` : `${Math.round(ms / dayMs)} days`;
}

/** `300 ms`, `13 s`, `5 min`, `24 h`, `12 days`: a time to wait or a time that is left, rounded up and never zero. */
export function waitText(ms: number): string {
  if (ms < 1_000) return `${Math.max(Math.ceil(ms / 100), 1) * 100} ms`;
  if (ms < 2 * minuteMs) return `${Math.ceil(ms / 1_000)} s`;
  if (ms < 2 * hourMs) return `${Math.ceil(ms / minuteMs)} min`;
  return ms < 2 * dayMs ? `${Math.ceil(ms / hourMs)} h` : `${Math.ceil(ms / dayMs)} days`;
}

/** How long ago: `just now`, `5 min ago`, `3 h ago`, `12 days ago`. */
export function ageText(ms: number): string {
  const minutes = Math.floor(ms / minuteMs);
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${minutes} min ago`;
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h ago`;
  return `${Math.floor(minutes / 1_440)} days ago`;
}

const tenths = (value: number) => Math.round(value * 10) / 10;
