/** `claudikins trace`: the former name of `executions list`, `executions show` and `executions clear`. */
import { ClaudikinsError } from "../../base/errors.ts";
import { about, either, list, named, record, text, texts, time } from "../../base/json-shape.ts";
import { stateKeys, stateText } from "../../programs/execution/execution-state.ts";
import { isOpen } from "../../programs/execution/listed-executions.ts";
import { executionShape, personShape, startedByShape, summaryShape } from "../../programs/trace/record.ts";
import { openStore } from "../../store/open.ts";
import {
  type AllExecutions,
  allExecutions,
  checkHtml,
  clearRecords,
  executionPlace,
  idIn,
  listedAnswer,
  recordAnswer,
} from "../all-executions.ts";
import { command, flag, option } from "../command.ts";
import { configArgs } from "../flags/config-flags.ts";
import { countUpTo } from "../flags/flags.ts";
import { defaultCalls, defaultRows } from "../limits.ts";

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
    execution: executionPlace({ required: false, complete: "execution" }),
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
    const all = await allExecutions(args, io, store);
    const { execution: wanted, limit } = args;
    if (args.clear) return await clearRecords(all, wanted, store);
    if (wanted === undefined) {
      const shown = all.listed.slice(0, limit ?? defaultRows);
      const open = shown.filter(isOpen).map(({ id, startedAt, startedBy, door, person, state }) => {
        const view = { ...(door === undefined ? {} : { door }), ...(person ? { person } : {}) };
        return { id, at: startedAt, startedBy, ...view, ...state };
      });
      const json = { open, executions: shown.flatMap(({ summary }) => summary ?? []) };
      return listedAnswer(json, shown, all, args.all, io);
    }
    const id = idIn(all, wanted);
    refuseOpen(id, all);
    return await recordAnswer(store, id, args, io);
  },
});

type Args = Partial<Record<"execution" | "html" | "config", string | undefined>> &
  Partial<Record<"limit", number | undefined>> &
  Partial<Record<"all" | "clear", boolean | undefined>>;

function checkTogether({ execution, limit, html, all, clear }: Args): void {
  if (execution !== undefined && execution !== "last" && all)
    throw new ClaudikinsError("USAGE", "Give an execution or --all, not both");
  if (clear && (limit !== undefined || html !== undefined)) {
    throw new ClaudikinsError("USAGE", `--clear cannot be used with --${html === undefined ? "limit" : "html"}`);
  }
  checkHtml({ html, limit });
  if (html === undefined || execution !== undefined) return;
  throw new ClaudikinsError("USAGE", "--html needs an execution", { hint: "claudikins trace last --html trace.html" });
}

/** Throws USAGE if the record is not written yet. */
function refuseOpen(id: string, { listed }: AllExecutions): void {
  const found = listed.find((each) => each.id === id && isOpen(each));
  if (!found) return;
  throw new ClaudikinsError("USAGE", `The execution ${id} has not ended, and is recorded when it has`, {
    hint: `Its state is "${stateText(found.state)}". For more: claudikins executions show ${id}`,
  });
}
