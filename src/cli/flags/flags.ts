/** Kinds of values that flags take, and their parsers. */

import { ClaudikinsError } from "../../base/errors.ts";
import { didYouMean } from "../../base/near-names.ts";
import { dayMs } from "../../base/units.ts";

/** Maximum of flags for a time from now on. */
const maxAheadMs = 3_650 * dayMs;

/** Parses texts like `NAME=value` into values by name. Errors do not show the values, which may be secrets. Throws USAGE. */
export function parsePairs(
  values: readonly string[],
  flag: string,
  { form, shown }: { form: RegExp; shown: string },
): Map<string, string | undefined> {
  return new Map(
    values.map((value) => {
      const [, name, text] = form.exec(value) ?? [];
      if (name !== undefined) return [name, text];
      throw new ClaudikinsError("USAGE", `${flag} takes ${shown}`);
    }),
  );
}

/** A time of at most `maxMs`. The value is in milliseconds. */
export function timeUpTo(maxMs: number, minMs = 1) {
  return { valueHint: "time", parse: duration(maxMs, minMs) } as const;
}

/** A whole number from 1 to `max`. */
export function countUpTo(max: number) {
  return { valueHint: "n", parse: count(max) } as const;
}

/** Parses a time: `5000` and `5000ms` are milliseconds, `5s` seconds, `2m` minutes. Returns milliseconds. */
export function duration(maxMs: number, minMs = 1): (text: string, flag: string) => number {
  return (text, flag) => {
    const match = /^(\d+(?:\.\d+)?)(ms|s|m)?$/.exec(text);
    const unit = { ms: 1, s: 1_000, m: 60_000 }[match?.[2] ?? "ms"] ?? 1;
    const ms = Math.round(Number(match?.[1]) * unit);
    if (match && ms >= minMs && ms <= maxMs) return ms;
    const most = `${maxMs / 60_000}m`;
    throw new ClaudikinsError("USAGE", `${flag} takes a time like 5000, 5s or 2m, at most ${most}; got "${text}"`);
  };
}

/** A time in the past: `30s`, `10m`, `2h` or `7d` ago, or a date. The value is in milliseconds since 1970. */
export const pastTime = { valueHint: "time", parse: timeSince } as const;

const unitMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function timeSince(text: string, flag: string): number {
  const [, amount, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (amount !== undefined) return Date.now() - Number(amount) * unitMs[unit as keyof typeof unitMs];
  const at = /^\d{4}-\d\d-\d\d/.test(text) ? new Date(text).getTime() : Number.NaN;
  if (!Number.isNaN(at)) return at;
  const forms = "a time like 30m, 12h or 7d, or a date like 2026-11-23";
  throw new ClaudikinsError("USAGE", `${flag} takes ${forms}; got "${text}"`);
}

/** A time from now on: `12h`, `30d` or `never`. The value is in milliseconds, or `never`. */
export const futureTime = { valueHint: "time", parse: timeAhead } as const;

function timeAhead(text: string, flag: string): number | "never" {
  if (text === "never") return text;
  const [, amount, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const ms = Number(amount) * unitMs[unit as keyof typeof unitMs];
  if (ms >= 1 && ms <= maxAheadMs) return ms;
  const most = `${maxAheadMs / unitMs.d}d`;
  throw new ClaudikinsError("USAGE", `${flag} takes a time like 12h or 30d, at most ${most}, or never; got "${text}"`);
}

/** Parses a whole number from 1 to `max`. */
export function count(max: number): (text: string, flag: string) => number {
  return (text, flag) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (value >= 1 && value <= max) return value;
    throw new ClaudikinsError("USAGE", `${flag} takes a whole number from 1 to ${max}; got "${text}"`);
  };
}

/** The properties of an argument or flag that takes one of a few words. */
export function oneWordOf<const T extends string>(choices: readonly T[]) {
  const parse = (text: string, flag: string): T => {
    const chosen = choices.find((choice) => choice === text);
    if (chosen !== undefined) return chosen;
    throw new ClaudikinsError("USAGE", `${flag} takes ${alternatives(choices)}; got "${text}"`, {
      hint: didYouMean(text, [...choices]),
    });
  };
  return { choices, parse };
}

/** `names, signatures or full`. */
function alternatives(choices: readonly string[]): string {
  return choices.join(", ").replace(/, ([^,]+)$/, " or $1");
}

/** Parses an address: `4600`, `127.0.0.1:4600`, `[::1]:4600` or `host:4600`. The default host is 127.0.0.1. */
export function parseAddress(text: string, flag: string): { host: string; port: number } {
  const match = /^(?:(\[[\da-f:.]+\]|[^\s:/@[\]]+):)?(\d{1,5})$/i.exec(text);
  const port = Number(match?.[2]);
  if (!match || port > 65_535) {
    throw new ClaudikinsError("USAGE", `${flag} takes a port, or host:port; got "${text}"`, {
      hint: "Examples: 4600, 127.0.0.1:4600, [::1]:4600, 0.0.0.0:4600. Port 0 picks a free port.",
    });
  }
  return { host: match[1]?.replace(/^\[(.*)\]$/, "$1") ?? "127.0.0.1", port };
}
