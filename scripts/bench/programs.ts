/** Programs that every contestant runs: plain JavaScript, the body of an async function. */

/** Code that measures other code, in milliseconds. */
export function stopwatch(code: string): string {
  return `const startedAt = performance.now();\n${code}\nreturn performance.now() - startedAt;`;
}

/** Waits longer than any measurement. */
export const waiting = "await new Promise((resolve) => setTimeout(resolve, 500_000));";

/** The code's value as a number of milliseconds. */
export function milliseconds(value: unknown): number {
  const ms = typeof value === "number" ? value : Number(value);
  if (!Number.isFinite(ms)) throw new Error(`a program was to return its time and returned ${JSON.stringify(value)}`);
  return ms;
}
