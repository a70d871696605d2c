/** One time zone for all code: the engine takes its local time from this thread's `Date`, where it becomes UTC. */

const fields = ["FullYear", "Month", "Date", "Day", "Hours", "Minutes", "Seconds", "Milliseconds"];

/** For the worker's own thread only: from now on local time is UTC here. */
export function useUniversalTime(): void {
  const methods = Date.prototype as unknown as Record<string, unknown>;
  for (const field of fields) methods[`get${field}`] = methods[`getUTC${field}`];
  methods["getTimezoneOffset"] = () => 0;
}
