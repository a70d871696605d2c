/** Parses the periods in the arguments of tools: from one date to another, both included, in UTC. */
import { DAY_MS } from "./data/calendar.ts";
import { Refusal } from "./shop.ts";

export const FROM = {
  type: "string",
  description: "First day, YYYY-MM-DD in UTC, or an ISO 8601 time such as 2025-03-01T08:00:00Z.",
} as const;

export const TO = {
  type: "string",
  description: "Last day, included, YYYY-MM-DD in UTC, or an ISO 8601 time such as 2025-03-31T20:00:00Z.",
} as const;

export interface Period {
  fromMs: number;
  /** The last millisecond of the period. */
  toMs: number;
}

/** Returns the period between the two arguments. Without an argument, the period is open on that side. Throws Refusal. */
export function period(from: string | undefined, to: string | undefined): Period {
  const fromMs = from === undefined ? Number.NEGATIVE_INFINITY : parseTime("from", from).startMs;
  const toMs = to === undefined ? Number.POSITIVE_INFINITY : parseTime("to", to).endMs;
  if (fromMs > toMs) throw new Refusal(`from is "${from}", which is after to, "${to}".`);
  return { fromMs, toMs };
}

export function isInPeriod(time: string, { fromMs, toMs }: Period): boolean {
  const ms = Date.parse(time);
  return ms >= fromMs && ms <= toMs;
}

const TIME = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)(Z|[+-]\d{2}:?\d{2})?)?$/;

function parseTime(name: string, text: string): { startMs: number; endMs: number } {
  const [, day, time, zone] = TIME.exec(text) ?? [];
  const midnight = Date.parse(`${day}T00:00:00Z`);
  // Date.parse reads 30 February as 2 March. A date exists only if it is the same when it is written back.
  const isDay = day !== undefined && !Number.isNaN(midnight) && new Date(midnight).toISOString().startsWith(day);
  const startMs = time === undefined ? midnight : Date.parse(`${day}T${time}${zone ?? "Z"}`);
  if (!isDay || Number.isNaN(startMs)) {
    throw new Refusal(
      `${name} is "${text}". Must be a date such as 2025-03-31 or a time such as 2025-03-31T20:00:00Z.`,
    );
  }
  return { startMs, endMs: time === undefined ? midnight + DAY_MS - 1 : startMs };
}
