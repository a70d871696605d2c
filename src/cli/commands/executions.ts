/** `claudikins executions`: programs that run in the background or wait, their outcomes, and how to cancel them. */

import type { App } from "../../app/app.ts";
import { ClaudikinsError } from "../../base/errors.ts";
import { about, list as listOf, number, oneOf, record, text, time, yesOrNo } from "../../base/json-shape.ts";
import { visibleText } from "../../base/visible-text.ts";
import { cancelFor } from "../../programs/cancel-for.ts";
import { DryRun } from "../../programs/dry-run/dry-run.ts";
import { stateKeys, stateText } from "../../programs/execution-state.ts";
import { type ListedExecution, storedExecution, withApprovals } from "../../programs/listed-executions.ts";
import { aboutRequest, type StoredRequest } from "../../programs/stored-executions.ts";
import { personShape, startedByShape } from "../../programs/trace/record.ts";
import { personAtTerminal } from "../at-terminal.ts";
import { command, option, place } from "../command.ts";
import { configArgs, daemonArgs, doorArgs } from "../config-flags.ts";
import { executionNamed } from "../execution-named.ts";
import { ageText } from "../layout.ts";
import { maxListedCodeChars, maxReadCodeChars } from "../limits.ts";
import { openApp } from "../open-app.ts";
import { doneShape, failedShape, filesShape, outcomeAnswer } from "../outcome.ts";
import { stateCell } from "../palette.ts";
import { Activity } from "../progress.ts";
import { writeAnswer } from "../report.ts";
import { outputPlace } from "../result-files.ts";
import { outcomeInShell } from "../shell-execution.ts";
import { table } from "../table.ts";
import { viewColumns } from "../view-columns.ts";

const listed = {
  id: text,
  startedAt: time,
  startedBy: about("serve: an agent sent it. exec: it was run from a shell", startedByShape),
  "door?": about("The door of the config behind which it was started", text),
  "person?": about("The person for whom it was started, who has signed in to serve --http", personShape),
  ...stateKeys,
};

const executionArg = place("Id of an execution, or the beginning or the end of its id", {
  required: true,
  complete: "kept",
});

export const list = command({
  description:
    "List the programs that run in the background or wait, and those that have ended within the last days. An execution is stored " +
    "when it waits for long, when an agent was given its id, and with exec --detach.",
  args: { ...configArgs, ...doorArgs },
  examples: ["claudikins executions list", "claudikins executions list --json"],
  json: record({
    executions: listOf(record({ ...listed, code: about("The beginning of the program", text) })),
  }),
  async run(args, io) {
    await using app = await openApp(io, args);
    const executions = await app.executions();
    const stored = await executions.stored.list(app);
    const open = stored.length === 0 ? [] : await app.approvals.open();
    const rows = stored.map((row) => storedExecution(row, aboutRequest(row.request, maxReadCodeChars), executions));
    const found = withApprovals(await Promise.all(rows), open);
    const json = { executions: found.map((each) => ({ ...jsonOf(each), code: codeOf(each) })) };
    if (found.length === 0) return { json, note: "No program runs in the background or waits, with this config.\n" };
    const views = viewColumns(found);
    const cells = found.map((each) => [
      each.id,
      ageText(Date.now() - each.startedAt),
      stateCell(stateText(each.state)),
      each.startedBy,
      ...views.cells(each),
      codeOf(each),
    ]);
    const head = ["id", "started", "state", "by", ...views.head, { text: "code" }];
    return { json, text: table(head, cells, io.stdout.columns) };
  },
});

export const show = command({
  description: "Show an execution: its state, the calls that it waits for, and the whole program.",
  args: { execution: executionArg, ...configArgs, ...doorArgs },
  examples: ["claudikins executions show 0t80fs9gjc"],
  json: record({
    ...listed,
    changedAt: about("When it was stored last", time),
    calls: about(
      "The calls that it waits for. made: the call has not left. sent: it may have left",
      listOf(record({ tool: text, "line?": number, state: oneOf("made", "sent", "answered") })),
    ),
    code: text,
  }),
  async run(args, io) {
    await using app = await openApp(io, args);
    const executions = await app.executions();
    const id = await idOf(args.execution, app);
    const { row, calls } = await executions.stored.look(id, app);
    const approvals = await app.approvals.open({ execution: id });
    const program = aboutRequest(row.request);
    const [found] = withApprovals([await storedExecution(row, program, executions)], approvals) as [ListedExecution];
    const json = { ...jsonOf(found), changedAt: row.changedAt, calls, code: program.code };
    const lines = [
      `${id}: ${stateText(found.state)}`,
      `by ${found.startedBy}${placeText(found)}, started ${ageText(Date.now() - row.startedAt)}, stored ${ageText(Date.now() - row.changedAt)}`,
      ...calls.map(
        ({ tool, line, state }) =>
          `${callWords[state]} ${visibleText(tool)}${line === undefined ? "" : ` (line ${line})`}`,
      ),
      "",
      visibleText(program.code).trimEnd(),
    ];
    return { json, text: `${lines.join("\n")}\n` };
  },
});

/** The command `dry-run`. */
const dryRun = command({
  description:
    "Run the program of an execution from its beginning as a dry run: tools that only read are called, and the calls that would change " +
    "something are listed in order, with their arguments. Look at it before you approve a call of a large program. The execution itself stays as it is.",
  args: { execution: executionArg, ...daemonArgs, ...configArgs, ...doorArgs },
  examples: ["claudikins executions dry-run 0t80fs9gjc"],
  json: doneShape,
  jsonFailure: { "outcome?": failedShape, "files?": filesShape },
  async run(args, io) {
    await using app = await openApp(io, args, { sharing: "shell", recording: {}, observed: {} });
    const executions = await app.executions();
    const { row } = await executions.stored.look(await idOf(args.execution, app), app);
    const { source, asked: limits, check } = JSON.parse(row.request) as StoredRequest;
    const activity = new Activity(io.stderr, "Running");
    const outcome = await outcomeInShell({ source, limits, check, dryRun: new DryRun() }, app, activity, io);
    const answer = await outcomeAnswer(
      outcome,
      { json: args.json === true, output: undefined, folders: app.config.folders },
      io,
    );
    return await writeAnswer(answer, args.json, io);
  },
});

export { dryRun as "dry-run" };

const callWords = { made: "waits to call", sent: "has called", answered: "got an answer from" };

export const wait = command({
  description:
    "Wait until an execution has ended, and print its outcome as exec does. If its process has ended, the execution is continued here: " +
    "no call is made twice, and a call that may have taken effect fails with CALL_OUTCOME_UNKNOWN.",
  args: {
    execution: executionArg,
    output: option(
      "Write the result to this file: the image, sound or file that the code returns or displays, else the value",
      { valueHint: "file" },
    ),
    ...daemonArgs,
    ...configArgs,
    ...doorArgs,
  },
  examples: ["claudikins executions wait 0t80fs9gjc", "claudikins executions wait 8rn --json"],
  json: doneShape,
  jsonFailure: { "outcome?": failedShape, "files?": filesShape },
  async run(args, io) {
    if (args.output !== undefined) outputPlace(args.output, io.cwd);
    await using app = await openApp(io, args, {
      sharing: "shell",
      waitsForApprovals: true,
      recording: {},
      observed: {},
      person: personAtTerminal(() => activity, io),
    });
    const executions = await app.executions();
    const activity = new Activity(io.stderr, "Waiting");
    const followed = await executions.follow(await idOf(args.execution, app), app);
    const interrupted = Promise.withResolvers<never>();
    // The execution itself is not cancelled.
    io.interrupted.addEventListener("abort", () => interrupted.reject(new ClaudikinsError("CANCELLED", "Interrupted")));
    const outcome = await Promise.race([followed.outcome, interrupted.promise]).finally(() => activity.end());
    const { folders } = app.config;
    const answer = await outcomeAnswer(outcome, { json: args.json === true, output: args.output, folders }, io);
    return await writeAnswer(answer, args.json, io);
  },
});

export const cancel = command({
  description: "Cancel an execution that runs or waits, in whatever process.",
  args: { execution: executionArg, ...configArgs, ...doorArgs },
  examples: ["claudikins executions cancel 0t80fs9gjc"],
  json: record({ execution: text, cancelled: about("False if it had ended before", yesOrNo) }),
  async run(args, io) {
    await using app = await openApp(io, args, { recording: {}, observed: {} });
    const id = await idOf(args.execution, app);
    const cancelled = await cancelFor(id, app, "command");
    const note = cancelled ? `Cancelled the execution ${id}.\n` : `The execution ${id} has already ended.\n`;
    return { json: { execution: id, cancelled }, note };
  },
});

/** Throws EXECUTION_NOT_FOUND and USAGE. */
async function idOf(wanted: string, app: App): Promise<string> {
  const { stored } = await app.executions();
  const all = (await stored.list(app)).map(({ id }) => id);
  // An unknown id may belong to another config, which the error says.
  return executionNamed(wanted, all) ?? wanted;
}

function jsonOf({ id, startedAt, startedBy, door, person, state }: ListedExecution) {
  return { id, startedAt, startedBy, ...(door === undefined ? {} : { door }), ...(person ? { person } : {}), ...state };
}

function placeText({ door, person }: ListedExecution): string {
  const whose = person === undefined ? "" : ` for ${visibleText(person.name)}`;
  return `${whose}${door === undefined ? "" : ` behind the door ${door}`}`;
}

/** The beginning of the program on one line. */
function codeOf({ code = "" }: ListedExecution): string {
  const line = visibleText(code).replace(/\s+/g, " ").trim();
  return line.length <= maxListedCodeChars ? line : `${line.slice(0, maxListedCodeChars - 1)}…`;
}
