/**
 * The ledger on disk: the counts of all processes. Each process appends lines to the file of the current hour, each in one
 * write, which needs no lock. Files of past hours are summed up by day under a lock; later days become months, and months
 * years.
 */
import { appendFileSync, existsSync, mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { counted } from "../../base/counted.ts";
import { ClaudikinsError, systemCodeOf } from "../../base/errors.ts";
import { namesIn, readIfThere, removeFile, writeWhenChanged } from "../../base/files.ts";
import { withLock } from "../../base/lock.ts";
import { isNewer, writtenByNewer } from "../../base/newer.ts";
import { dayMs, hourMs } from "../../base/units.ts";
import { ledgerKeptDays, ledgerKeptMonths, ledgerLockWaitMs, maxCountedTools } from "../limits.ts";
import { Counts, type CountsJson } from "./counts.ts";

const totalsName = "totals.json";
const lockName = ".lock";

/** Unreadable files are kept under these names; only the last of each kind. */
const damagedTotals = "totals.damaged.json";
const damagedHour = "hour.damaged.log";

const hourName = /^\d{4}-\d{2}-\d{2}T\d{2}\.log$/;

/** Counts by `2026-11-21`, `2026-08` or `2024`. */
export type Periods = Map<string, Counts>;

interface LedgerContent {
  periods: Periods;
  /** One sentence for each part that could not be read. */
  problems: string[];
}

/** The date in the user's time zone. */
export function dayOf(date: Date): string {
  const two = (value: number) => String(value).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** In UTC, so that the names sort by time. */
function hourFile(date: Date): string {
  return `${date.toISOString().slice(0, 13)}.log`;
}

/**
 * Appends counts; returns true for the first line of an hour. Throws the system's errors. The reader computes the local day,
 * because that takes as long as everything else here.
 */
export function appendCounts(folder: string, counts: Counts, now: Date): boolean {
  const file = join(folder, hourFile(now));
  const isFirst = !existsSync(file);
  // Begins with a line break, so that a broken line before it costs only itself.
  const line = `\n${JSON.stringify({ at: Math.floor(now.getTime() / 1_000), ...counts.toJson() })}\n`;
  try {
    appendFileSync(file, line, { mode: 0o600 });
  } catch (error) {
    if (systemCodeOf(error) !== "ENOENT") throw error;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    appendFileSync(file, line, { mode: 0o600 });
  }
  return isFirst;
}

/** Sums up past hours. Throws FILE_NOT_WRITABLE, CALL_TIMEOUT. */
export async function foldLedger(folder: string, now: Date): Promise<void> {
  await locked(folder, () => fold(folder, now));
}

/** Reads all counts, and sums up past hours first if possible. Throws FILE_NOT_FOUND if they cannot be read, VERSION_TOO_OLD. */
export async function readLedger(folder: string, now: Date): Promise<LedgerContent> {
  if (namesIn(folder).length === 0) return { periods: new Map(), problems: [] };
  const problems: string[] = [];
  const read = () => {
    const content = readCounts(folder);
    return { ...content, problems: [...new Set([...problems, ...content.problems])] };
  };
  try {
    return await locked(folder, () => {
      problems.push(...fold(folder, now));
      return read();
    });
  } catch {
    // The folder is read-only or locked for long: read it without summing up.
    return read();
  }
}

/** The date in UTC. The first local date of a process takes 6 ms, because it loads the time zones. */
export function utcDayOf(date: Date): string {
  return date.toISOString().slice(0, 10);
}

/** Reads all counts and changes nothing. `day` is the day of recent counts. Throws FILE_NOT_FOUND if they cannot be read. */
export function readCounts(folder: string, day: (date: Date) => string = dayOf): LedgerContent {
  const problems: string[] = [];
  const { periods, summed } = readTotals(folder, problems);
  for (const name of hoursIn(folder)) {
    if (!summed.includes(name)) problems.push(...addHour(folder, name, periods, day));
  }
  return { periods, problems };
}

/** Throws FILE_NOT_WRITABLE, CALL_TIMEOUT. */
export async function resetLedger(folder: string): Promise<void> {
  if (namesIn(folder).length === 0) return;
  await locked(folder, () => {
    const names = [totalsName, damagedTotals, damagedHour, ...hoursIn(folder)];
    for (const name of names) removeFile(join(folder, name));
  });
}

function locked<T>(folder: string, work: () => T): Promise<T> {
  return withLock(join(folder, lockName), "the ledger", work, ledgerLockWaitMs);
}

function hoursIn(folder: string): string[] {
  return namesIn(folder).filter((name) => hourName.test(name));
}

/** Sums up past hours. Returns a sentence for each unreadable file, which is set aside. */
function fold(folder: string, now: Date): string[] {
  const problems: string[] = [];
  const { periods, summed, isDamaged } = readTotals(folder, problems);
  if (isDamaged) renameSync(join(folder, totalsName), join(folder, damagedTotals));
  // A process was killed between summing these up and removing them.
  for (const name of summed) removeFile(join(folder, name));
  // One more hour is left for processes that were about to write.
  const lastOver = hourFile(new Date(now.getTime() - 2 * hourMs));
  const over = hoursIn(folder).filter((name) => name <= lastOver);
  if (over.length === 0) return problems;
  const damaged = over.filter((name) => {
    const found = addHour(folder, name, periods);
    problems.push(...found);
    return found.length > 0;
  });
  const folded = foldPeriods(periods, now);
  writeTotals(folder, folded, over);
  for (const name of over) {
    if (damaged.includes(name)) renameSync(join(folder, name), join(folder, damagedHour));
    else removeFile(join(folder, name));
  }
  writeTotals(folder, folded, []);
  return problems;
}

interface Totals {
  periods: Periods;
  /** Files of hours that are already included. */
  summed: string[];
  isDamaged: boolean;
}

function readTotals(folder: string, problems: string[]): Totals {
  const text = readIfThere(join(folder, totalsName));
  if (text === undefined) return { periods: new Map(), summed: [], isDamaged: false };
  try {
    const totals = JSON.parse(text);
    if (isNewer(totals, 1)) throw writtenByNewer("the ledger");
    const { version, summed, periods } = totals;
    if (version !== 1) throw new Error("of another version");
    const read = (periods as [string, CountsJson][]).map(([name, json]): [string, Counts] => [name, Counts.from(json)]);
    return { periods: new Map(read), summed: summed.filter((name: string) => hourName.test(name)), isDamaged: false };
  } catch (error) {
    if (error instanceof ClaudikinsError) throw error;
    problems.push(
      `The ledger file ${totalsName} was damaged or has an unknown version. It was kept as ${damagedTotals}`,
    );
    return { periods: new Map(), summed: [], isDamaged: true };
  }
}

function writeTotals(folder: string, periods: Periods, summed: string[]): void {
  const sorted = [...periods].sort(([a], [b]) => (a < b ? -1 : 1));
  const lines = sorted.map(([name, counts]) => JSON.stringify([name, counts.toJson()]));
  const text = `{"version":1,"summed":${JSON.stringify(summed)},"periods":[\n${lines.join(",\n")}\n]}\n`;
  writeWhenChanged(join(folder, totalsName), text);
}

/** Adds the counts of an hour's file. Returns a sentence if some lines could not be read. */
function addHour(folder: string, name: string, periods: Periods, day = dayOf): string[] {
  let unread = 0;
  for (const line of (readIfThere(join(folder, name)) ?? "").split("\n")) {
    if (line === "") continue;
    try {
      const { at, ...json } = JSON.parse(line);
      if (!Number.isSafeInteger(at)) throw new Error("not a time");
      addTo(periods, day(new Date(at * 1_000)), Counts.from(json));
    } catch {
      unread += 1;
    }
  }
  if (unread === 0) return [];
  return [`${counted(unread, "line")} of the ledger file ${name} could not be read`];
}

function addTo(periods: Periods, name: string, counts: Counts): void {
  const known = periods.get(name);
  if (known) known.add(counts);
  else periods.set(name, counts);
}

function foldPeriods(periods: Periods, now: Date): Periods {
  const folded: Periods = new Map();
  const firstDay = dayOf(new Date(now.getTime() - ledgerKeptDays * dayMs));
  const firstMonth = dayOf(new Date(now.getFullYear(), now.getMonth() - ledgerKeptMonths, 1)).slice(0, 7);
  for (const [name, counts] of periods) {
    const isOldDay = name.length === 10 && name < firstDay;
    const month = isOldDay ? name.slice(0, 7) : name;
    addTo(folded, month.length === 7 && month < firstMonth ? month.slice(0, 4) : month, counts);
  }
  return new Map([...folded].map(([name, counts]) => [name, counts.bounded(maxCountedTools)]));
}
