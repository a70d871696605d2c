/** `claudikins executions`: what was run, what runs and what waits: as a list, each with its calls, and how to wait for it and cancel it. */

import { outcomeInShell } from "../../app/shell-execution.ts";
import { ageText } from "../../base/duration.ts";
import { ClaudikinsError } from "../../base/errors.ts";
import { defined } from "../../base/json-object.ts";
import {
  about,
  either,
  list as listOf,
  named,
  number,
  oneOf,
  record,
  text,
  texts,
  time,
  yesOrNo,
} from "../../base/json-shape.ts";
import { visibleText } from "../../base/visible-text.ts";
import { DryRun } from "../../programs/dry-run/dry-run.ts";
import { activityStates, fits, inOrder } from "../../programs/execution/activity.ts";
import { cancelFor } from "../../programs/execution/cancel-for.ts";
import { stateKeys, stateText } from "../../programs/execution/execution-state.ts";
import type { ListedExecution } from "../../programs/execution/listed-executions.ts";
import { programAgain } from "../../programs/execution/run-again.ts";
import { aboutRequest } from "../../programs/execution/stored-executions.ts";
import { isId } from "../../programs/trace/id.ts";
import { executionShape, personShape, startedByShape, summaryShape } from "../../programs/trace/record.ts";
import { activityOrders } from "../../store/activity.ts";
import { openStore } from "../../store/open.ts";
import {
  type AllExecutions,
  allExecutions,
  checkHtml,
  clearRecords,
  codeOf,
  executionPlace,
  idIn,
  idOf,
  keptIdOf,
  listedAnswer,
  recordAnswer,
} from "../all-executions.ts";
import { type CommandAnswer, command, flag, option } from "../command.ts";
import { type ConfigFlags, configArgs, daemonArgs, doorArgs, viewArgs } from "../flags/config-flags.ts";
import { countUpTo, oneWordOf, pastTime } from "../flags/flags.ts";
import type { Io } from "../io.ts";
import { defaultCalls, defaultRows } from "../limits.ts";
import { openApp } from "../open-app.ts";
import { outcomeAnswer, outcomeShapes, outputText } from "../output/outcome.ts";
import { writeAnswer } from "../output/report.ts";
import { outputPlace } from "../output/result-files.ts";
import { commandTrace } from "../telemetry.ts";
import { personAtTerminal } from "../terminal/at-terminal.ts";
import { Activity } from "../terminal/progress.ts";

const listed = {
  id: text,
  startedAt: time,
  startedBy: about("serve: an agent sent it. exec: it was run from a shell. schedule: its time came", startedByShape),
  "door?": about("The door of the config behind which it was started", text),
  "person?": about("The person for whom it was started, who has signed in to serve --http", personShape),
  "agent?": about("The agent, as it names itself", text),
  "repeats?": about("Id of the execution whose code it runs again", text),
  ...stateKeys,
};

const executionArg = executionPlace({ required: true, complete: "kept" });

export const list = command({
  description:
    "List the programs that run in the background or wait, and after them those that have ended, newest first. Of arguments and results, only the sizes are kept. " +
    'To keep their contents from now on, use exec --record, serve --record, or "record": "contents" in the config.',
  args: {
    limit: option(`Maximum number of executions (default ${defaultRows})`, { short: "n", ...countUpTo(100_000) }),
    state: option("Only executions in this state", { valueHint: "state", ...oneWordOf(activityStates) }),
    agent: option("Only executions of this agent, by the name and version that it gives itself", { valueHint: "name" }),
    server: option("Only executions that have called this server", { valueHint: "name", complete: "server" }),
    tool: option("Only executions that have called this tool", { valueHint: "server.tool", complete: "tool" }),
    since: option("Only executions since then: 30m, 12h, 7d or a date such as 2026-11-23", pastTime),
    until: option("Only executions that began before then", pastTime),
    user: option("Only executions for this person: an id or a name", { valueHint: "name", complete: "person" }),
    text: option(
      "Only executions with this text in their id, session, comment, program, tools, agent, person, door or folder",
      {
        valueHint: "text",
      },
    ),
    sort: option("Which come first: the newest, the longest, or those of the newest session (default newest)", {
      valueHint: "order",
      ...oneWordOf(activityOrders),
    }),
    all: flag("Include the executions of all configs"),
    ...viewArgs,
  },
  examples: [
    "claudikins executions",
    "claudikins executions list --state failed --since 7d",
    "claudikins executions list --tool github.merge_pull_request --json",
  ],
  json: record({
    executions: listOf(
      record({
        ...listed,
        "folder?": about("The working folder", text),
        "comment?": about("The comment at the beginning of the program", text),
        "code?": about("The beginning of the program", text),
        "record?": about("Of one that has ended", summaryShape),
      }),
    ),
  }),
  async run(args, io) {
    await using store = openStore(io.env);
    const all = await allExecutions(args, io, store);
    const { state, tool: wanted } = args;
    const [server = args.server, ...tool] = wanted?.split(".") ?? [];
    if (wanted !== undefined && tool.length === 0) throw new ClaudikinsError("USAGE", "--tool takes server.tool");
    const filter = {
      ...{ server, tool: wanted === undefined ? undefined : tool.join(".") },
      ...{
        agent: args.agent,
        since: args.since,
        until: args.until,
        text: args.text,
        states: state === undefined ? undefined : [state],
      },
    };
    const isOf = ({ person }: ListedExecution) =>
      args.user === undefined || person?.id === args.user || person?.name === args.user;
    const fitting = all.listed.filter((each) => fits(each, filter) && isOf(each));
    const shown = inOrder(fitting, args.sort).slice(0, args.limit ?? defaultRows);
    const executions = shown.map((each) => ({
      ...jsonOf(each),
      ...(each.folder === undefined ? {} : { folder: each.folder }),
      ...(each.comment ? { comment: each.comment } : {}),
      ...(each.code === undefined ? {} : { code: codeOf(each) }),
      ...(each.summary ? { record: each.summary } : {}),
    }));
    return listedAnswer({ executions }, shown, all, args.all, io);
  },
});

export const show = command({
  description:
    "Show an execution. Of one that has ended, shows the timeline of its calls; of another one, its state, the calls that it waits for, and the program. " +
    "To see the messages to and from servers while code runs, use exec --wire.",
  args: {
    execution: executionPlace({ required: true, complete: "execution" }),
    limit: option(`Maximum number of calls to show (default ${defaultCalls}, longest first)`, {
      short: "n",
      ...countUpTo(100_000),
    }),
    html: option("Write the execution as a self-contained HTML page", { valueHint: "file", complete: "file" }),
    ...viewArgs,
  },
  examples: [
    "claudikins executions show last",
    "claudikins executions show 0t80fs9gjc",
    "claudikins executions show last --html trace.html",
  ],
  json: either(
    executionShape,
    record({
      ...listed,
      changedAt: about("When it was stored last", time),
      calls: about(
        "The calls that it waits for. made: the call has not left. sent: it may have left",
        listOf(record({ tool: text, "line?": number, state: oneOf("made", "sent", "answered") })),
      ),
      code: text,
    }),
    named("Written", about("With --html", record({ written: text }))),
  ),
  async run(args, io) {
    checkHtml(args);
    await using store = openStore(io.env);
    const all = await allExecutions(args, io, store);
    const id = await shownId(all, args, io);
    const found = all.listed.find((each) => each.id === id);
    if (args.html !== undefined || !found || found.summary) return await recordAnswer(store, id, args, io);
    return await storedAnswer(found, args, io);
  },
});

/** Throws EXECUTION_NOT_FOUND for one that is stored for another config or door, and says how to reach it. */
async function shownId(all: AllExecutions, flags: ConfigFlags & { execution: string }, io: Io): Promise<string> {
  try {
    return idIn(all, flags.execution);
  } catch (error) {
    if (isId(flags.execution)) {
      await using app = await openApp(io, flags);
      await (await app.executions()).stored.look(flags.execution, app);
    }
    throw error;
  }
}

/** The state and the program of an execution that is stored, and not recorded yet. */
async function storedAnswer(found: ListedExecution, flags: ConfigFlags, io: Io): Promise<CommandAnswer> {
  await using app = await openApp(io, flags);
  const { id } = found;
  const { row, calls } = await (await app.executions()).stored.look(id, app);
  const { code } = aboutRequest(row.request);
  const lines = [
    `${id}: ${stateText(found.state)}`,
    `by ${found.startedBy}${placeText(found)}, started ${ageText(Date.now() - row.startedAt)}, stored ${ageText(Date.now() - row.changedAt)}`,
    ...(found.repeats === undefined ? [] : [`run again from ${found.repeats}`]),
    ...calls.map(
      ({ tool, line, state }) =>
        `${callWords[state]} ${visibleText(tool)}${line === undefined ? "" : ` (line ${line})`}`,
    ),
    "",
    visibleText(code).trimEnd(),
  ];
  return { json: { ...jsonOf(found), changedAt: row.changedAt, calls, code }, text: `${lines.join("\n")}\n` };
}

export const clear = command({
  description:
    "Delete the record of an execution, or without an id all records of the config. Outcomes that are kept for executions wait stay.",
  args: {
    execution: executionPlace({ required: false, complete: "execution" }),
    all: flag("Delete the records of all configs"),
    ...configArgs,
  },
  examples: ["claudikins executions clear", "claudikins executions clear last"],
  json: record({ cleared: texts }),
  async run(args, io) {
    if (args.execution !== undefined && args.execution !== "last" && args.all)
      throw new ClaudikinsError("USAGE", "Give an execution or --all, not both");
    await using store = openStore(io.env);
    return await clearRecords(await allExecutions(args, io, store), args.execution, store);
  },
});

/** The command `dry-run`. */
const dryRun = command({
  description:
    "Run the program of an execution from its beginning as a dry run: tools that only read are called, and the calls that would change " +
    "something are listed in order, with their arguments. Look at it before you approve a call of a large program. The execution itself stays as it is.",
  args: { execution: executionArg, ...daemonArgs, ...configArgs, ...doorArgs },
  examples: ["claudikins executions dry-run 0t80fs9gjc"],
  ...outcomeShapes,
  async run(args, io) {
    await using app = await openApp(io, args, { sharing: "shell", recording: {}, observed: {} });
    const id = await idOf(args.execution, app);
    const { labels: _, ...program } = await programAgain(id, app, await app.executions(), { isDryRun: true });
    const activity = new Activity(io.stderr, "Running");
    const { onProgress } = activity;
    const asked = { ...program, dryRun: new DryRun(), trace: commandTrace(io.env), onProgress };
    const outcome = await outcomeInShell(asked, app, io.interrupted).finally(() => activity.end());
    const answer = await outcomeAnswer(
      outcome,
      { json: args.json === true, output: undefined, folders: app.config.folders },
      io,
    );
    return await writeAnswer(answer, args.json, io);
  },
});

export { again, code } from "../executions-again.ts";
export { compare } from "../executions-compare.ts";
export { dryRun as "dry-run" };

const callWords = { made: "waits to call", sent: "has called", answered: "got an answer from" };

export const wait = command({
  description:
    "Wait until an execution has ended, and print its outcome as exec does. If its process has ended, the execution is continued here: " +
    "no call is made twice, and a call that may have taken effect fails with CALL_OUTCOME_UNKNOWN.",
  args: {
    execution: executionArg,
    output: option(outputText, { valueHint: "file" }),
    ...daemonArgs,
    ...viewArgs,
  },
  examples: ["claudikins executions wait 0t80fs9gjc", "claudikins executions wait 8rn --json"],
  ...outcomeShapes,
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
    const followed = await executions.follow(await keptIdOf(args.execution, app), app);
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
    const id = await keptIdOf(args.execution, app);
    const cancelled = await cancelFor(id, app, "command");
    const note = cancelled ? `Cancelled the execution ${id}.\n` : `The execution ${id} has already ended.\n`;
    return { json: { execution: id, cancelled }, note };
  },
});

function jsonOf({ id, startedAt, startedBy, door, person, agent, repeats, state }: ListedExecution) {
  return { id, startedAt, startedBy, ...defined({ door, person, agent, repeats }), ...state };
}

function placeText({ door, person }: ListedExecution): string {
  const whose = person === undefined ? "" : ` for ${visibleText(person.name)}`;
  return `${whose}${door === undefined ? "" : ` behind the door ${door}`}`;
}
