/** `claudikins trace`: executions as a list, as a waterfall in the terminal, or as an HTML page. */
import { resolve } from "node:path";
import { discoverConfig } from "../../config/discover.ts";
import { executionsFolder } from "../../config/locations.ts";
import { ClaudikinsError } from "../../errors.ts";
import { writeWhenChanged } from "../../files.ts";
import { configOwner } from "../../logs/place.ts";
import { grouped } from "../../outcome-text.ts";
import type { ExecutionRecord, Summary } from "../../trace/record.ts";
import { configText, durationText, keptOut, outcomeWord } from "../../trace/record-text.ts";
import { readRecord, readSummaries, removeRecords } from "../../trace/store.ts";
import { hasColours } from "../colours.ts";
import { command, commonArgs } from "../command.ts";
import { count } from "../flags.ts";
import type { Io } from "../io.ts";
import { about, either, list, named, nothing, number, oneOf, record, text, time, yesOrNo } from "../shapes.ts";
import { table } from "../table.ts";
import { ageText } from "../time-text.ts";
import { waterfallText } from "../waterfall-text.ts";

const summary = {
  version: { const: 1 },
  id: text,
  at: time,
  door: oneOf("exec", "serve"),
  config: about("The config file; null for the demo", either(text, nothing)),
  ok: yesOrNo,
  "reason?": about(
    "Why it failed",
    oneOf("threw", "check", "timeout", "cpu", "memory", "stack", "cancelled", "crashed"),
  ),
  durationMs: number,
  beforeMs: about("Time spent fetching tools from servers before the code ran", number),
  calls: number,
  failures: number,
  charsIn: about("Characters of the tools' results", number),
  charsOut: about("Characters of the value, the logs and what is displayed", number),
  hasContents: about("Whether it was recorded with --record", yesOrNo),
  receipt: about("Id of its receipt", text),
};

const excerpt = named("Excerpt", about("The beginning of a text, without secrets", record({ text, isWhole: yesOrNo })));

const call = named(
  "Call",
  record({
    server: text,
    tool: text,
    "line?": about("Line of the code", number),
    startMs: about("Since the code started", number),
    endMs: number,
    outcome: oneOf("ok", "failed", "cancelled"),
    argumentChars: number,
    resultChars: number,
    "code?": about("Error code", text),
    "message?": text,
    "arguments?": excerpt,
    "result?": excerpt,
  }),
);

const execution = named(
  "Execution",
  about(
    "With an id; texts are present only if hasContents is true",
    record({
      ...summary,
      code: record({ chars: number, lines: number, "text?": text }),
      timeline: list(call),
      moreCalls: about("Number of later calls, which are not recorded individually", number),
      logs: record({ lines: number, chars: number, "entries?": list(record({ level: text, text })) }),
      "error?": record({ "code?": text, "line?": number, "name?": text, "message?": text, "hint?": text }),
      "value?": excerpt,
    }),
  ),
);

const traceShape = either(
  named("Executions", record({ executions: list(named("Summary", record(summary))) })),
  execution,
  named("Written", about("With --html", record({ written: text }))),
  named("Cleared", about("With --clear", record({ cleared: list(text) }))),
);

/** Minimum width in characters for all columns. */
const wideTable = 72;

const defaultListed = 20;
const defaultCalls = 40;

export default command({
  description:
    "Show recorded executions, or the timeline of one execution's calls. exec and serve record every execution, with sizes only. " +
    'To record contents as well, use exec --record, serve --record, or "record" in the config ("sizes", "contents" or false). ' +
    "To see the messages to and from servers while code runs, use exec --wire.",
  args: {
    execution: {
      type: "positional",
      required: false,
      description: "Id of an execution, the end of its id, or last",
      complete: "execution",
    },
    limit: {
      type: "string",
      short: "n",
      valueHint: "n",
      description: `Maximum number of executions to list (default ${defaultListed}), or of calls to show for one execution (default ${defaultCalls}, longest first)`,
      parse: count(100_000),
    },
    html: {
      type: "string",
      valueHint: "file",
      description: "Write the execution as a self-contained HTML page",
      complete: "file",
    },
    all: { type: "boolean", description: "Include the executions of all configs" },
    clear: { type: "boolean", description: "Delete the record; without an id, all records of the config" },
    ...commonArgs,
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
    const executions = new Executions(args, io);
    const { execution: wanted, json, limit } = args;
    if (args.clear) return executions.clear(wanted);
    if (wanted === undefined) return executions.list(limit ?? defaultListed);
    const record = executions.read(wanted);
    if (args.html !== undefined) return writePage(record, args.html, json === true, io);
    if (json) return print(io, `${JSON.stringify(record)}\n`);
    const { isTerminal, columns: width } = io.stdout;
    const canvas = { width, isTerminal, colours: hasColours(io.stdout, io) };
    return print(io, waterfallText(record, canvas, limit ?? defaultCalls));
  },
});

type Args = Partial<Record<"execution" | "html" | "config", string | undefined>> &
  Partial<Record<"limit", number | undefined>> &
  Partial<Record<"all" | "clear" | "json", boolean | undefined>>;

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

/** The recorded executions of one config, or of all. */
class Executions {
  readonly #io: Io;
  readonly #args: Args;
  readonly #folder: string;
  /** Undefined with `--all`. */
  readonly #owner: string | null | undefined;

  /** Throws CONFIG_NOT_FOUND. */
  constructor(args: Args, io: Io) {
    this.#io = io;
    this.#args = args;
    this.#folder = executionsFolder(io.env);
    this.#owner = args.all ? undefined : configOwner(discoverConfig({ flag: args.config, cwd: io.cwd, env: io.env }));
  }

  #found(): Summary[] {
    const all = readSummaries(this.#folder);
    return this.#owner === undefined ? all : all.filter(({ config }) => config === this.#owner);
  }

  /** Finds an execution of any config. Throws FILE_NOT_FOUND and USAGE. */
  #id(wanted: string): string {
    if (wanted === "last") {
      const [last] = this.#found();
      if (last) return last.id;
      throw new ClaudikinsError("FILE_NOT_FOUND", this.#nothingYet(), {
        hint: "To list the executions of all configs: claudikins trace --all",
      });
    }
    const all = readSummaries(this.#folder);
    const named = all.filter(({ id, receipt }) => id === wanted || receipt === wanted);
    const fitting = named.length > 0 ? named : all.filter(({ id }) => wanted !== "" && id.endsWith(wanted));
    const [only, second] = fitting;
    if (only && !second) return only.id;
    if (second) {
      const ids = fitting.slice(0, 5).map(({ id }) => id);
      throw new ClaudikinsError("USAGE", `Several executions end with "${wanted}"`, {
        hint: `One of: ${ids.join(", ")}`,
      });
    }
    throw new ClaudikinsError("FILE_NOT_FOUND", `No execution "${wanted}" is recorded`, {
      hint: "To list all executions: claudikins trace --all",
    });
  }

  read(wanted: string): ExecutionRecord {
    const record = readRecord(this.#folder, this.#id(wanted));
    if (record) return record;
    throw new ClaudikinsError("FILE_NOT_FOUND", `The record of the execution "${wanted}" cannot be read`);
  }

  async list(most: number): Promise<number> {
    const found = this.#found().slice(0, most);
    const { json, all } = this.#args;
    if (json) return print(this.#io, `${JSON.stringify({ executions: found })}\n`);
    if (found.length === 0) {
      await this.#io.stderr.write(`${this.#nothingYet()}: exec and serve record every execution.\n`);
      return 0;
    }
    const { columns } = this.#io.stdout;
    const isWide = columns === undefined || columns >= wideTable;
    const head = [
      "id",
      "when",
      ...(isWide ? ["by"] : []),
      "outcome",
      "calls",
      "time",
      ...(isWide ? ["kept out"] : []),
      ...(all ? ["config"] : []),
    ];
    const rows = found.map((each) => [
      each.id,
      ageText(Date.now() - each.at),
      ...(isWide ? [each.door] : []),
      outcomeWord(each),
      `${grouped(each.calls)}${each.failures > 0 ? ` (${grouped(each.failures)} failed)` : ""}`,
      durationText(each.durationMs),
      ...(isWide ? [grouped(keptOut(each))] : []),
      ...(all ? [configText(each.config)] : []),
    ]);
    return print(this.#io, table(head, rows, columns, [head.indexOf("time"), head.indexOf("kept out")]));
  }

  /** Throws FILE_NOT_WRITABLE. */
  async clear(wanted: string | undefined): Promise<number> {
    const cleared = wanted === undefined ? this.#found().map(({ id }) => id) : [this.#id(wanted)];
    removeRecords(this.#folder, cleared);
    if (this.#args.json) return print(this.#io, `${JSON.stringify({ cleared })}\n`);
    const count = cleared.length === 1 ? "1 execution" : `${grouped(cleared.length)} executions`;
    await this.#io.stderr.write(`${cleared.length === 0 ? "There was nothing to delete" : `Deleted: ${count}`}.\n`);
    return 0;
  }

  #nothingYet(): string {
    return this.#owner === undefined
      ? "Nothing has been recorded yet"
      : "Nothing has been recorded yet with this config";
  }
}

/** Throws FILE_NOT_WRITABLE. */
async function writePage(record: ExecutionRecord, file: string, json: boolean, io: Io): Promise<number> {
  const { pageOf } = await import("../../trace/page/page.ts");
  const path = resolve(io.cwd, file);
  writeWhenChanged(path, pageOf(record));
  if (json) return print(io, `${JSON.stringify({ written: path })}\n`);
  await io.stderr.write(`Wrote ${path}\n`);
  return 0;
}

async function print(io: Io, text: string): Promise<number> {
  await io.stdout.write(text);
  return 0;
}
