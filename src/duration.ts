/** Durations as text. */

/** `0.3 s`, `12 s`, `5 min`, `3 h`: rounded up, never zero. */
export function durationText(ms: number): string {
  if (ms < 1_000) return `${Math.max(Math.ceil(ms / 100) / 10, 0.1)} s`;
  const seconds = Math.ceil(ms / 1_000);
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7_200 ? `${Math.ceil(seconds / 60)} min` : `${Math.ceil(seconds / 3_600)} h`;
}
