/** The global `sleep`: `await sleep(500)`, `await sleep("2h")`. */
import { type WaitOptions, wait } from "./timers.ts";

/** The names of each unit, and its milliseconds. */
const units: [names: RegExp, ms: number][] = [
  [/^(?:ms|milliseconds?)$/i, 1],
  [/^(?:s|secs?|seconds?)$/i, 1_000],
  [/^(?:m|mins?|minutes?)$/i, 60_000],
  [/^(?:h|hrs?|hours?)$/i, 3_600_000],
  [/^(?:d|days?)$/i, 86_400_000],
];

const maxDays = 30;

const forms = 'milliseconds as a number, or a text such as "250ms", "90s", "1.5 h", "1h30m" or "2 days"';

/** Resolves after the duration. Rejects with TypeError if it is not a duration, and with RangeError if it is too long. */
export async function sleep(duration: unknown, options?: WaitOptions): Promise<void> {
  const ms = typeof duration === "number" ? duration : typeof duration === "string" ? msOf(duration) : Number.NaN;
  if (!(ms >= 0)) throw new TypeError(`sleep: ${shown(duration)} is not a duration. Give ${forms}.`);
  if (ms > maxDays * 86_400_000) throw new RangeError(`sleep: ${shown(duration)} is more than ${maxDays} days`);
  await wait(ms, undefined, options);
}

/** `1h30m` → 5,400,000. NaN if the text is not a duration. */
function msOf(text: string): number {
  const parts = [...text.matchAll(/\s*(\d+(?:\.\d+)?|\.\d+)\s*([a-z]+)\s*/giy)];
  const isWhole = parts.length > 0 && parts.reduce((length, [part]) => length + part.length, 0) === text.length;
  if (!isWhole) return Number.NaN;
  return parts.reduce((sum, [, count, name = ""]) => {
    const [, ms = Number.NaN] = units.find(([names]) => names.test(name)) ?? [];
    return sum + Number(count) * ms;
  }, 0);
}

function shown(value: unknown): string {
  const text =
    typeof value === "string" ? JSON.stringify(value) : typeof value === "object" ? typeof value : String(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
