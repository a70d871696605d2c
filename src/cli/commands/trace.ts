/** `claudikins trace`: executions as a list, as a waterfall in the terminal, or as an HTML page. */

import { resolve } from "node:path";
import { counted, grouped } from "../../base/counted.ts";
import { durationText } from "../../base/duration.ts";
import { ClaudikinsError, messageOf } from "../../base/errors.ts";
import { writeWhenChanged } from "../../base/files.ts";
import { about, either, list, named, record, text, texts, time } from "../../base/json-shape.ts";
import { discoverConfig } from "../../config/discover.ts";
import { tracePageOf } from "../../page/execution/off-thread.ts";
import { stateKeys, stateText } from "../../programs/execution-state.ts";
import {
  isOpen,
  joined,
  type ListedExecution,
  storedExecution,
  withApprovals,
} from "../../programs/listed-executions.ts";
import { keptOut } from "../../programs/outcome-text.ts";
import { aboutRequest } from "../../programs/stored-executions.ts";
import {
  executionShape,
  personShape,
  type Summary,
  startedByShape,
  summaryShape,
} from "../../programs/trace/record.ts";
import { configText } from "../../programs/trace/record-text.ts";
import { readRecord, readSummaries, removeRecords } from "../../programs/trace/store.ts";
import { configOwner } from "../../servers/logs/place.ts";
import { openStore } from "../../store/open.ts";
import type { Store } from "../../store/store.ts";
import { type CommandAnswer, command, flag, option, place } from "../command.ts";
import { configArgs } from "../config-flags.ts";
import { executionNamed } from "../execution-named.ts";
import { countUpTo } from "../flags.ts";
import type { Io } from "../io.ts";
import { ageText } from "../layout.ts";
import { defaultCalls, defaultRows, minTraceChars } from "../limits.ts";
import { stateCell, warningLabel } from "../palette.ts";
import { table } from "../table.ts";
import { viewColumns } from "../view-columns.ts";
import { waterfallText } from "../waterfall-text.ts";

const traceShape = either(
  named(
    "Executions",
    record({
      open: about(
        "Stored programs that run or wait",
        list(
          record({
            id: text,
            at: time,
            startedBy: startedByShape,
            "door?": text,
            "person?": personShape,
            ...stateKeys,
          }),
        ),
      ),
      executions: about("Recorded executions, which have ended", list(summaryShape)),
    }),
  ),
  executionShape,
  named("Written", about("With --html", record({ written: text }))),
  named("Cleared", about("With --clear", record({ cleared: texts }))),
);

export default command({
  description:
    "Show recorded executions, or the timeline of one execution's calls. exec and serve record every execution, with sizes only. " +
    'To record contents as well, use exec --record, serve --record, or "record" in the config ("sizes", "contents" or false). ' +
    "To see the messages to and from servers while code runs, use exec --wire.",
  args: {
    execution: place("Id of an execution, the beginning or the end of its id, or last", {
      required: false,
      complete: "execution",
    }),
    limit: option(
      `Maximum number of executions to list (default ${defaultRows}), or of calls to show for one execution (default ${defaultCalls}, longest first)`,
      { short: "n", ...countUpTo(100_000) },
    ),
    html: option("Write the execution as a self-contained HTML page", { valueHint: "file", complete: "file" }),
    all: flag("Include the executions of all configs"),
    clear: flag("Delete the record; without an id, all records of the config"),
    config: configArgs.config,
  },
  examples: [
    "claudikins trace",
    "claudikins trace last",
    "claudikins trace last --html trace.html",
    "claudikins trace --json",
  ],
  json: traceShape,
  async run(args, io) {
    checkTogether(args);
    await using store = openStore(io.env);
    const recorded = await executionsOf(args, io, store);
    const { execution: wanted, html, limit } = args;
    if (args.clear) return await clear(recorded, wanted, store);
    const stored = store.exists ? await storedExecutions(args, io) : { open: [], note: "" };
    const isOver = ({ id }: Summary) => !stored.open.some((each) => each.id === id);
    const executions = { ...recorded, own: recorded.own.filter(isOver) };
    if (wanted === undefined) return listed(executions, stored, limit ?? defaultRows, args.all === true, io);
    refuseOpen(wanted, stored.open);
    const id = idOf(wanted, executions);
    if (html !== undefined) {
      const path = resolve(io.cwd, html);
      writeWhenChanged(path, readable(await tracePageOf(store, id), wanted));
      return { json: { written: path }, note: `Wrote ${path}\n` };
    }
    const record = readable(await readRecord(store, id), wanted);
    return { json: record, text: waterfallText(record, io.stdout, limit ?? defaultCalls) };
  },
});

/** Returns what was made of the record. Throws FILE_NOT_FOUND if the record cannot be read. */
function readable<T>(made: T | undefined, wanted: string): T {
  if (made !== undefined) return made;
  throw new ClaudikinsError("FILE_NOT_FOUND", `The record of the execution "${wanted}" cannot be read`);
}

type Args = Partial<Record<"execution" | "html" | "config", string | undefined>> &
  Partial<Record<"limit", number | undefined>> &
  Partial<Record<"all" | "clear", boolean | undefined>>;

function checkTogether({ execution, limit, html, all, clear }: Args): void {
  if (execution !== undefined && execution !== "last" && all)
    throw new ClaudikinsError("USAGE", "Give an execution or --all, not both");
  if (clear && (limit !== undefined || html !== undefined)) {
    throw new ClaudikinsError("USAGE", `--clear cannot be used with --${html === undefined ? "limit" : "html"}`);
  }
  if (html === undefined) return;
  if (html === "") throw new ClaudikinsError("USAGE", "--html needs a file name");
  if (limit !== undefined) throw new ClaudikinsError("USAGE", "--limit cannot be used with --html");
  if (execution !== undefined) return;
  throw new ClaudikinsError("USAGE", "--html needs an execution", { hint: "claudikins trace last --html trace.html" });
}

interface Executions {
  all: Summary[];
  /** The executions of the chosen config, or all with `--all`. */
  own: Summary[];
  /** The text if there are none. */
  none: string;
}

/** Throws CONFIG_NOT_FOUND. */
async function executionsOf({ all: isAll, config: flag }: Args, { cwd, env }: Io, store: Store): Promise<Executions> {
  const owner = isAll ? undefined : configOwner(discoverConfig({ flag, cwd, env }));
  const all = await readSummaries(store);
  if (owner === undefined) return { all, own: all, none: "Nothing has been recorded yet" };
  const own = all.filter(({ config }) => config === owner);
  return { all, own, none: "Nothing has been recorded yet with this config" };
}

/** Finds an execution of any config. Throws FILE_NOT_FOUND and USAGE. */
function idOf(wanted: string, { all, own, none }: Executions): string {
  if (wanted === "last") {
    const [last] = own;
    if (last) return last.id;
    throw new ClaudikinsError("FILE_NOT_FOUND", none, {
      hint: "To list the executions of all configs: claudikins trace --all",
    });
  }
  const found =
    all.find(({ receipt }) => receipt === wanted)?.id ??
    executionNamed(
      wanted,
      all.map(({ id }) => id),
    );
  if (found !== undefined) return found;
  throw new ClaudikinsError("FILE_NOT_FOUND", `No execution "${wanted}" is recorded`, {
    hint: "To list all executions: claudikins trace --all",
  });
}

/** The programs of this config that run or wait: they are in the store, and recorded when they have ended. */
interface Stored {
  open: ListedExecution[];
  /** A line that says why they are not known. */
  note: string;
}

async function storedExecutions({ config }: Args, io: Io): Promise<Stored> {
  try {
    const { openApp } = await import("../open-app.ts");
    await using app = await openApp(io, { config }, { asks: false });
    const executions = await app.executions();
    const rows = await executions.stored.unfinished(app);
    if (rows.length === 0) return { open: [], note: "" };
    const stored = rows.map((row) => storedExecution(row, aboutRequest(row.request, 0), executions));
    return { open: withApprovals(await Promise.all(stored), await app.approvals.open()).filter(isOpen), note: "" };
  } catch (error) {
    return { open: [], note: `${warningLabel} programs that run or wait are not listed: ${messageOf(error)}\n` };
  }
}

/** Throws USAGE if the record is not written yet. */
function refuseOpen(wanted: string, open: readonly ListedExecution[]): void {
  const ids = open.map(({ id }) => id);
  const id = executionNamed(wanted, ids);
  const found = open.find((each) => each.id === id);
  if (!found) return;
  throw new ClaudikinsError("USAGE", `The execution ${id} has not ended, and is recorded when it has`, {
    hint: `Its state is "${stateText(found.state)}". For more: claudikins executions show ${id}`,
  });
}

function listed(
  { own, none }: Executions,
  { open, note }: Stored,
  most: number,
  isAll: boolean,
  { stdout: { columns } }: Io,
): CommandAnswer {
  const all = joined(open, own).slice(0, most);
  const json = {
    open: all.filter(isOpen).map(({ id, startedAt, startedBy, door, person, state }) => {
      const view = { ...(door === undefined ? {} : { door }), ...(person ? { person } : {}) };
      return { id, at: startedAt, startedBy, ...view, ...state };
    }),
    executions: all.flatMap(({ summary }) => summary ?? []),
  };
  if (all.length === 0) return { json, note: `${note}${none}: exec and serve record every execution.\n` };
  const isWide = columns === undefined || columns >= minTraceChars;
  const only = <T>(isShown: boolean, cell: T) => (isShown ? [cell] : []);
  const views = viewColumns(all);
  const head = [
    "id",
    "when",
    "state",
    "calls",
    { number: "time" },
    ...only(isWide, { number: "kept out" }),
    ...only(isWide, "by"),
    ...views.head,
    ...only(isAll, { path: "config" }),
  ];
  const rows = all.map(({ id, startedAt, startedBy, config, door, person, state, durationMs, summary }) => [
    id,
    ageText(Date.now() - startedAt),
    stateCell(stateText(state)),
    summary ? `${grouped(summary.calls)}${summary.failures > 0 ? ` (${grouped(summary.failures)} failed)` : ""}` : "",
    durationMs === undefined ? "" : durationText(durationMs),
    ...only(isWide, summary ? grouped(keptOut(summary)) : ""),
    ...only(isWide, startedBy),
    ...views.cells({ door, person }),
    ...only(isAll, configText(config)),
  ]);
  return { json, note, text: table(head, rows, columns) };
}

/** Throws FILE_NOT_WRITABLE. */
async function clear(executions: Executions, wanted: string | undefined, store: Store): Promise<CommandAnswer> {
  const cleared = wanted === undefined ? executions.own.map(({ id }) => id) : [idOf(wanted, executions)];
  await removeRecords(store, cleared);
  return {
    json: { cleared },
    note:
      cleared.length === 0 ? "There was nothing to delete.\n" : `Deleted: ${counted(cleared.length, "execution")}.\n`,
  };
}
