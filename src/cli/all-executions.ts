/** The one list of executions, those that run or wait before those that have ended, and the one view of each: for `executions` and `trace`. */
import { resolve } from "node:path";
import type { App } from "../app/app.ts";
import { counted, grouped } from "../base/counted.ts";
import { ageText, durationText } from "../base/duration.ts";
import { ClaudikinsError, messageOf } from "../base/errors.ts";
import { writeWhenChanged } from "../base/files.ts";
import { oneLine, visibleText } from "../base/visible-text.ts";
import { discoverConfig } from "../config/discover.ts";
import { tracePageOf } from "../page/execution/off-thread.ts";
import { titleOf } from "../programs/execution/activity.ts";
import { stateText } from "../programs/execution/execution-state.ts";
import {
  joined,
  type ListedExecution,
  storedExecution,
  withApprovals,
} from "../programs/execution/listed-executions.ts";
import { aboutRequest } from "../programs/execution/stored-executions.ts";
import { keptOut } from "../programs/outcome-text.ts";
import type { Summary } from "../programs/trace/record.ts";
import { readActivity, readRecord, readSummaries, recordsKept, removeRecords } from "../programs/trace/store.ts";
import { configOwner } from "../servers/logs/place.ts";
import type { Store } from "../store/store.ts";
import { type CommandAnswer, place } from "./command.ts";
import type { ConfigFlags } from "./flags/config-flags.ts";
import type { Io } from "./io.ts";
import { defaultCalls } from "./limits.ts";
import { configField, idLike, viewFields } from "./output/nouns.ts";
import { waterfallText } from "./output/waterfall-text.ts";
import { tableOf } from "./terminal/table.ts";
import { stateCell, warningLabel } from "./terminal/terminal-output.ts";

/** Minimum width for all columns of the list of executions. */
const minTraceChars = 90;

/** Characters of a program in the list of executions. */
const maxListedCodeChars = 60;

/** Characters of an id in a list, at least: the part of it that says when it began has eight. */
const minIdChars = 8;

/** Characters of a program that are read for this, because white space is shortened. */
const maxReadCodeChars = 2_000;

/** The argument that names an execution: see `idIn`. */
export function executionPlace<const T extends { required: boolean; complete: "execution" | "kept" }>(more: T) {
  return place("Id of an execution, the beginning or the end of its id, or last", more);
}

export interface AllExecutions {
  /** The executions of the chosen config, or all with `--all`. Both those that run or wait and the others begin with the newest. */
  listed: ListedExecution[];
  /** The records of all configs, by which an id finds its execution. */
  recorded: Summary[];
  /** Why those in the store are not listed. */
  note: string;
  /** The text if there are none. */
  none: string;
}

interface ListFlags extends ConfigFlags {
  all?: boolean | undefined;
}

/** Throws CONFIG_NOT_FOUND. */
export async function allExecutions(flags: ListFlags, io: Io, store: Store): Promise<AllExecutions> {
  const { all: isAll, config: flag, door } = flags;
  const owner = isAll ? undefined : configOwner(discoverConfig({ flag, cwd: io.cwd, env: io.env }));
  const recorded = (await readSummaries(store)).filter((each) => door === undefined || each.door === door);
  const { stored, note } = store.exists ? await storedExecutions(flags, io) : { stored: [], note: "" };
  const isHere = (each: ListedExecution) =>
    (owner === undefined || each.config === owner) && (door === undefined || each.door === door);
  const none = `Nothing has been recorded yet${owner === undefined ? "" : " with this config"}`;
  return { listed: joined(stored, recorded).filter(isHere), recorded, note, none };
}

/** Records can be read without the config, which may be broken or untrusted. */
async function storedExecutions(flags: ListFlags, io: Io): Promise<{ stored: ListedExecution[]; note: string }> {
  try {
    const { openApp } = await import("./open-app.ts");
    await using app = await openApp(io, flags, { asks: false });
    return { stored: await storedIn(app), note: "" };
  } catch (error) {
    if (flags.door !== undefined) throw error;
    return {
      stored: [],
      note: `${warningLabel} programs that run or wait are not listed: ${messageOf(error)}\n`,
    };
  }
}

export async function storedIn(app: App): Promise<ListedExecution[]> {
  const executions = await app.executions();
  const rows = await executions.stored.list(app);
  if (rows.length === 0) return [];
  const stored = rows.map((row) => storedExecution(row, aboutRequest(row.request, maxReadCodeChars), executions));
  return withApprovals(await Promise.all(stored), await app.approvals.open());
}

/** The id of an execution that is stored or recorded for the app's config. Throws EXECUTION_NOT_FOUND and USAGE. */
export async function idOf(wanted: string, app: App): Promise<string> {
  const recorded = await readActivity(
    app.store,
    { config: configOwner(app.config.origin) },
    { limit: recordsKept.count },
  );
  return idAmong(wanted, joined(await storedIn(app), recorded));
}

/** The same for those that are stored. */
export async function keptIdOf(wanted: string, app: App): Promise<string> {
  return idAmong(wanted, await storedIn(app));
}

function idAmong(wanted: string, executions: readonly ListedExecution[]): string {
  if (wanted === "last") {
    const last = lastOf(executions);
    if (last) return last.id;
    throw new ClaudikinsError("EXECUTION_NOT_FOUND", "No execution runs in the background or waits with this config");
  }
  // An unknown id may belong to another config, which the error says.
  const ids = executions.map(({ id }) => id);
  return idLike(wanted, ids) ?? wanted;
}

/** The list of some of the executions. */
export function listedAnswer(
  json: object,
  shown: readonly ListedExecution[],
  all: AllExecutions,
  isAll: boolean | undefined,
  { stdout: { columns } }: Io,
): CommandAnswer {
  const { note, none } = all;
  if (shown.length === 0) return { json, note: `${note}${none}: exec and serve record every execution.\n` };
  return { json, note, text: executionsTable(shown, all, isAll === true, columns) };
}

/** The newest execution that the user or an agent of theirs has started. Schedules and events start theirs unasked. */
export function lastOf(executions: readonly ListedExecution[]): ListedExecution | undefined {
  return executions
    .filter(({ startedBy }) => startedBy !== "schedule" && startedBy !== "event")
    .reduce<ListedExecution | undefined>(
      (last, each) => (last && last.startedAt >= each.startedAt ? last : each),
      undefined,
    );
}

/** Finds an execution of any config. Throws FILE_NOT_FOUND and USAGE. */
export function idIn({ listed, recorded, none }: AllExecutions, wanted: string): string {
  if (wanted === "last") {
    const last = lastOf(listed);
    if (last) return last.id;
    const others = listed.length === 0 ? none : "Only schedules have run programs with this config";
    throw new ClaudikinsError("FILE_NOT_FOUND", others, {
      hint: "To list the executions of all configs: claudikins executions --all",
    });
  }
  const ids = new Set([...recorded, ...listed].map(({ id }) => id));
  const found = recorded.find(({ receipt }) => receipt === wanted)?.id ?? idLike(wanted, [...ids]);
  if (found !== undefined) return found;
  throw new ClaudikinsError("FILE_NOT_FOUND", `No execution "${wanted}" is recorded`, {
    hint: "To list all executions: claudikins executions --all",
  });
}

/** The table of the executions. `ids` are all that an id must differ from. */
function executionsTable(
  shown: readonly ListedExecution[],
  { listed, recorded }: AllExecutions,
  isAll: boolean,
  columns: number | undefined,
): string {
  const isWide = columns === undefined || columns >= minTraceChars;
  const short = shortIds([...listed, ...recorded].map(({ id }) => id));
  return tableOf<ListedExecution>(shown, columns, [
    ["id", ({ id }) => short(id)],
    ["when", ({ startedAt }) => ageText(Date.now() - startedAt)],
    ["state", ({ state }) => stateCell(stateText(state))],
    ["failed", ({ summary }) => (summary && summary.failures > 0 ? grouped(summary.failures) : "")],
    [{ number: "time" }, ({ durationMs }) => (durationMs === undefined ? "" : durationText(durationMs))],
    isWide ? [{ number: "kept out" }, ({ summary }) => (summary ? grouped(keptOut(summary)) : "")] : undefined,
    [{ text: "by" }, ({ agent, startedBy }) => agent ?? startedBy],
    ...viewFields(shown),
    configField(isAll),
    [{ text: "about" }, (each) => oneLine(titleOf(each), maxListedCodeChars)],
  ]);
}

/** Shortens an id to the beginning that no other of the ids has. */
function shortIds(ids: readonly string[]): (id: string) => string {
  const sorted = [...new Set(ids)].sort();
  const places = new Map(sorted.map((id, place) => [id, place]));
  return (id) => {
    const place = places.get(id);
    if (place === undefined) return id;
    const others = [sorted[place - 1] ?? "", sorted[place + 1] ?? ""];
    const shared = Math.max(...others.map((other) => sharedChars(id, other)));
    // A whole id that is the beginning of another one names itself.
    return id.slice(0, Math.max(minIdChars, shared + 1));
  };
}

function sharedChars(one: string, other: string): number {
  let chars = 0;
  while (chars < one.length && one[chars] === other[chars]) chars++;
  return chars;
}

/** The beginning of the program on one line. */
export function codeOf({ code = "" }: ListedExecution): string {
  const line = visibleText(code).replace(/\s+/g, " ").trim();
  return line.length <= maxListedCodeChars ? line : `${line.slice(0, maxListedCodeChars - 1)}…`;
}

/** An execution that has ended, with its calls, or with `html` written as a page. Throws FILE_NOT_FOUND and FILE_NOT_WRITABLE. */
export async function recordAnswer(
  store: Store,
  id: string,
  { html, limit = defaultCalls }: { html?: string | undefined; limit?: number | undefined },
  { cwd, stdout }: Io,
): Promise<CommandAnswer> {
  if (html === undefined) {
    const execution = await recorded(() => readRecord(store, id), id);
    return { json: execution, text: waterfallText(execution, stdout, limit) };
  }
  const written = resolve(cwd, html);
  writeWhenChanged(written, await recorded(() => tracePageOf(store, id), id));
  return { json: { written }, note: `Wrote ${written}\n` };
}

/** Throws USAGE if the page has no name, or is written with `--limit`. */
export function checkHtml({ html, limit }: { html?: string | undefined; limit?: number | undefined }): void {
  if (html === "") throw new ClaudikinsError("USAGE", "--html needs a file name");
  if (html !== undefined && limit !== undefined)
    throw new ClaudikinsError("USAGE", "--limit cannot be used with --html");
}

/** Time for the record of an execution that has just ended: its process writes it a moment later. */
const recordWaitMs = 1_000;

/** What `read` reads of the record of an execution. Throws FILE_NOT_FOUND if there is none. */
export async function recorded<T>(read: () => Promise<T | undefined>, id: string): Promise<T> {
  for (const deadline = performance.now() + recordWaitMs; ; await Bun.sleep(50)) {
    const found = await read();
    if (found !== undefined) return found;
    if (performance.now() > deadline) break;
  }
  throw new ClaudikinsError("FILE_NOT_FOUND", `The execution "${id}" has no record yet`, {
    hint: `An execution is recorded when it has ended. To wait for it: claudikins executions wait ${id}`,
  });
}

/** Removes the records of the chosen config, or of one execution. Throws FILE_NOT_WRITABLE. */
export async function clearRecords(all: AllExecutions, wanted: string | undefined, store: Store) {
  const cleared =
    wanted === undefined ? all.listed.flatMap(({ id, summary }) => (summary ? [id] : [])) : [idIn(all, wanted)];
  await removeRecords(store, cleared);
  const note =
    cleared.length === 0 ? "There was nothing to delete.\n" : `Deleted: ${counted(cleared.length, "execution")}.\n`;
  return { json: { cleared }, note };
}
