/** Timestamps and durations of CEL, which are whole numbers of nanoseconds. */
import { dayMs } from "../../base/units.ts";
import { Duration, integer, Timestamp } from "./values.ts";
import { Undecidable } from "./work.ts";

const second = 1_000_000_000n;
const nanosOf: Record<string, bigint> = {
  h: 3_600n * second,
  m: 60n * second,
  s: second,
  ms: 1_000_000n,
  us: 1_000n,
  µs: 1_000n,
  ns: 1n,
};

// From the year 1 to the year 9999, and durations as long as that, as in Protocol Buffers.
const firstSecond = -62_135_596_800n;
const lastSecond = 253_402_300_799n;
/** The longest duration of CEL, in seconds. */
const longestDuration = 315_576_000_000n;

export function timestamp(nanos: bigint): Timestamp {
  if (nanos < firstSecond * second || nanos >= (lastSecond + 1n) * second) {
    throw new Undecidable("a timestamp is out of range");
  }
  return new Timestamp(nanos);
}

export function duration(nanos: bigint): Duration {
  if (nanos > longestDuration * second || nanos < -longestDuration * second) {
    throw new Undecidable("a duration is out of range");
  }
  return new Duration(integer(nanos));
}

export function timestampAt(seconds: bigint): Timestamp {
  return timestamp(seconds * second);
}

export function secondsOf({ nanos }: Timestamp | Duration): bigint {
  const seconds = nanos / second;
  return nanos < 0n && nanos % second !== 0n ? seconds - 1n : seconds;
}

/** RFC 3339, such as `2026-01-31T12:00:00.5+01:00`. */
export function readTimestamp(text: string): Timestamp {
  const parts =
    text.length > 40
      ? null
      : /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/.exec(text);
  if (!parts) throw new Undecidable("it is not a timestamp of RFC 3339");
  const [, day, time, fraction = "", zone] = parts;
  const utc = Date.parse(`${day}T${time}Z`);
  // JavaScript takes the 31st of February for the 3rd of March.
  if (Number.isNaN(utc) || !new Date(utc).toISOString().startsWith(`${day}T${time}`)) {
    throw new Undecidable("it is not a timestamp of RFC 3339");
  }
  const minutes = zone === "Z" ? 0 : offsetMinutes(zone!);
  return timestamp(BigInt(utc - minutes * 60_000) * 1_000_000n + BigInt(fraction.padEnd(9, "0")));
}

/** A sequence of numbers with units, such as `1h30m` or `-1.5s`. */
export function readDuration(text: string): Duration {
  if (text.length > 100 || !/^[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|ms|s|m|h))+$/.test(text)) {
    throw new Undecidable("it is not a duration, such as 1h30m");
  }
  let nanos = 0n;
  for (const [, whole = "", fraction = "", unit = ""] of text.matchAll(/(\d*)(?:\.(\d*))?(ns|us|µs|ms|s|m|h)/g)) {
    const size = nanosOf[unit]!;
    nanos += BigInt(whole || 0) * size + (BigInt(fraction || 0) * size) / 10n ** BigInt(fraction.length);
  }
  return duration(text.startsWith("-") ? -nanos : nanos);
}

/** As Protocol Buffers write it: seconds with as many decimals as are needed. */
export function durationText({ nanos }: Duration): string {
  const size = nanos < 0n ? -nanos : nanos;
  return `${nanos < 0n ? "-" : ""}${size / second}${decimals(size % second)}s`;
}

export function timestampText({ nanos }: Timestamp): string {
  const seconds = secondsOf(new Timestamp(nanos));
  const text = new Date(Number(seconds) * 1_000).toISOString().slice(0, 19);
  return `${text}${decimals(nanos - seconds * second)}Z`;
}

function decimals(nanos: bigint): string {
  return nanos === 0n ? "" : `.${String(nanos).padStart(9, "0").replace(/0+$/, "")}`;
}

const timestampParts = {
  getFullYear: (date: Date) => date.getUTCFullYear(),
  getMonth: (date: Date) => date.getUTCMonth(),
  getDate: (date: Date) => date.getUTCDate(),
  getDayOfMonth: (date: Date) => date.getUTCDate() - 1,
  getDayOfWeek: (date: Date) => date.getUTCDay(),
  getDayOfYear: (date: Date) => {
    const first = new Date(date);
    first.setUTCMonth(0, 1);
    return Math.round((date.getTime() - first.getTime()) / dayMs);
  },
  getHours: (date: Date) => date.getUTCHours(),
  getMinutes: (date: Date) => date.getUTCMinutes(),
  getSeconds: (date: Date) => date.getUTCSeconds(),
  getMilliseconds: (date: Date) => date.getUTCMilliseconds(),
};

const durationParts = { getHours: nanosOf["h"]!, getMinutes: nanosOf["m"]!, getSeconds: second };

/** What CEL calls the parts of a time, which are also parts of a duration. */
export const timeParts = Object.keys(timestampParts);

/** Undefined if times have no such part. */
export function partOf(time: Timestamp | Duration, part: string, zone = "UTC"): bigint | undefined {
  if (time instanceof Duration) {
    if (part === "getMilliseconds") return (time.nanos % second) / 1_000_000n;
    const size = durationParts[part as keyof typeof durationParts] as bigint | undefined;
    return size === undefined ? undefined : time.nanos / size;
  }
  const read = timestampParts[part as keyof typeof timestampParts] as ((date: Date) => number) | undefined;
  return read && BigInt(read(dateIn(time, zone)));
}

/** A date whose UTC parts are the local parts of the time in the time zone. */
function dateIn(time: Timestamp, zone: string): Date {
  const milliseconds = Number(secondsOf(time)) * 1_000 + Number((time.nanos - secondsOf(time) * second) / 1_000_000n);
  if (zone === "UTC") return new Date(milliseconds);
  if (/^[+-]?\d\d:\d\d$/.test(zone)) return new Date(milliseconds + offsetMinutes(zone) * 60_000);
  try {
    const format = new Intl.DateTimeFormat("en", { timeZone: zone, timeZoneName: "longOffset" });
    const name = format.formatToParts(milliseconds).find(({ type }) => type === "timeZoneName")?.value ?? "GMT";
    return new Date(milliseconds + (name === "GMT" ? 0 : offsetMinutes(name.slice(3))) * 60_000);
  } catch {
    throw new Undecidable("it is not a time zone, such as Europe/Berlin or +01:00");
  }
}

/** The minutes of `+01:30`. */
function offsetMinutes(text: string): number {
  const [hours = "", minutes = ""] = text.replace(/^[+-]/, "").split(":");
  const size = Number(hours) * 60 + Number(minutes);
  return text.startsWith("-") ? -size : size;
}
