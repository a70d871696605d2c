/** Makes UTC the time zone of all programs: the engine takes its local time from this thread's `Date`. */

const fields = ["FullYear", "Month", "Date", "Day", "Hours", "Minutes", "Seconds", "Milliseconds"];

/** Makes local time UTC in this thread. For workers only. */
export function useUniversalTime(): void {
  const methods = Date.prototype as unknown as Record<string, unknown>;
  for (const field of fields) methods[`get${field}`] = methods[`getUTC${field}`];
  methods["getTimezoneOffset"] = () => 0;
}
