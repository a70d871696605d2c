/** Durations as text. */

/** `0.3 s`, `12 s`, `5 min`, `3 h`, `12 days`: rounded up, never zero. */
export function durationText(ms: number): string {
  if (ms < 1_000) return `${Math.max(Math.ceil(ms / 100) / 10, 0.1)} s`;
  const seconds = Math.ceil(ms / 1_000);
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7_200) return `${Math.ceil(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.ceil(seconds / 3_600)} h` : `${Math.ceil(seconds / 86_400)} days`;
}
