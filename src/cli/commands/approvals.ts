/** `claudikins approvals`: shows the calls that wait for a decision, and decides them. */

import { counted, grouped } from "../../base/counted.ts";
import { ageText, waitText } from "../../base/duration.ts";
import { parseExact } from "../../base/exact-json.ts";
import { list as listOf, record } from "../../base/json-shape.ts";
import { shellWord } from "../../base/shell-word.ts";
import { oneLine } from "../../base/visible-text.ts";
import { Approvals } from "../../policy/approvals/approvals.ts";
import { visible } from "../../policy/hidden-characters.ts";
import { wholeQuestionText } from "../../policy/question-text.ts";
import { approvalFacts } from "../../programs/approvals/approval-facts.ts";
import { type ApprovalFacts, factsShape } from "../../programs/approvals/facts-shape.ts";
import { configText } from "../../programs/trace/record-text.ts";
import { type Approval, approvalScopes, hasWhole, scopeText } from "../../store/approval.ts";
import { openStore } from "../../store/open.ts";
import { toolId } from "../../tools/model.ts";
import { approvalKeys, approvalShape, jsonOf } from "../approvals/approval-json.ts";
import {
  approveAlways,
  askPerson,
  chosenRows,
  decide,
  reasonIn,
  restText,
  rowOf,
  stateText,
} from "../approvals/decide.ts";
import { command, flag, option, place, several } from "../command.ts";
import { configArgs } from "../flags/config-flags.ts";
import { oneWordOf } from "../flags/flags.ts";
import type { Io } from "../io.ts";
import { chosenOwner, configField, listAnswer, ofChosen, viewFields } from "../output/nouns.ts";
import type { RowField } from "../terminal/table.ts";
import { stateCell } from "../terminal/terminal-output.ts";

/** Maximum width of a question about a call. */
const maxQuestionChars = 100;

/** Characters of a call's arguments in the list of approvals. */
const maxListedArgumentChars = 60;

const allArg = flag("Include the calls of all configs");
const idsArg = place("Ids, or their first or last letters", { required: false, complete: "approval", ...several });
const allOfArg = option("Decide about all calls of this server or tool", {
  valueHint: "server[.tool]",
  complete: "tool",
});

export const list = command({
  description: "List the calls that wait for your approval, oldest first.",
  args: {
    decided: flag("List the decisions of the last 30 days instead, newest first"),
    all: allArg,
    config: configArgs.config,
  },
  examples: ["claudikins approvals", "claudikins approvals list --all", "claudikins approvals list --decided"],
  json: record({ approvals: listOf(approvalShape) }),
  async run(args, io) {
    await using approvals = new Approvals({ env: io.env });
    const everything = await approvals.list();
    const wanted = everything.filter(({ state }) => (state === "open") === (args.decided !== true));
    const rows = ofChosen(wanted, args, io);
    if (args.decided) rows.sort((one, other) => (other.decidedAt ?? 0) - (one.decidedAt ?? 0));
    const json = { approvals: rows.map(jsonOf) };
    const others = args.decided ? 0 : wanted.length - rows.length;
    const elsewhere =
      others === 0 ? "" : `note: ${counted(others, "more call")} with other configs: claudikins approvals --all\n`;
    const none = args.decided ? "Nothing was decided in the last 30 days" : "Nothing waits for your approval";
    const next = args.decided ? "" : "To see all arguments: claudikins approvals show ID\n";
    return listAnswer(
      io,
      { json, rows, none: `${none}${args.all ? "" : " with this config"}.\n${elsewhere}`, note: `${elsewhere}${next}` },
      fieldsOf(rows, args.decided === true, args.all === true),
    );
  },
});

export const show = command({
  description:
    "Show a call that waits with all arguments and the line of code that makes the call. Of a decided call, the beginning of long arguments is shown, because the rest is not kept.",
  args: {
    id: place("Id, or its first or last letters", { complete: "approval", required: true }),
  },
  examples: ["claudikins approvals show 7k2m9q4x", "claudikins approvals show 7k --json"],
  json: record({ ...approvalKeys, ...factsShape }),
  async run(args, io) {
    await using store = openStore(io.env);
    await using approvals = new Approvals({ store });
    const row = rowOf(args.id, await approvals.list());
    const whole = await approvals.argumentsOf(row.id);
    const facts = await approvalFacts(row, whole, approvals, store);
    const own = whole === undefined ? jsonOf(row) : { ...jsonOf(row), args: parseExact(whole) };
    const json = { ...own, ...facts };
    const text = `${wholeText(row, whole, io)}${factsText(facts)}`;
    if (row.state !== "open") return { json, text };
    const note = `${dryRunText(row, io)}To decide: claudikins approvals approve ${row.id}, or deny ${row.id}\n`;
    return { json, text, note };
  },
});

/** The command that shows what the program of a call would do. Empty for a call without a program. */
function dryRunText({ line, execution, config }: Approval, io: Io): string {
  if (line === null) return "";
  // A saved program runs within the execution of the program that has called it.
  const [id] = execution.split("-", 1);
  const flag = config === null || config === chosenOwner(undefined, io) ? "" : ` --config ${shellWord(config)}`;
  return `To see what the whole program would do: claudikins executions dry-run ${id}${flag}\n`;
}

export const approve = command({
  description:
    "Approve calls. It shows each call and asks you, so it needs a terminal: an agent that runs commands must not approve its own calls.",
  args: {
    ids: idsArg,
    "all-of": allOfArg,
    for: option(
      'What you allow: this call only (the default), the tool until the program or the agent\'s session ends, or always, which also writes "confirm" to the config',
      {
        valueHint: "scope",
        ...oneWordOf([...approvalScopes, "always"] as const),
      },
    ),
    all: flag("With --all-of: the calls of all configs"),
    config: configArgs.config,
  },
  examples: [
    "claudikins approvals approve 7k2m9q4x",
    "claudikins approvals approve 7k --for session",
    "claudikins approvals approve --all-of github.create_issue",
  ],
  json: record({ approved: listOf(approvalShape) }),
  async run(args, io) {
    await using approvals = new Approvals({ env: io.env });
    const rows = chosenRows(args, await approvals.list(), io);
    const scope = args.for ?? "once";
    if (scope === "always") return await approveAlways(approvals, rows, args.config, io);
    await askPerson(approvals, rows, restText(scope), io);
    return await decide(approvals, rows, { state: "approved", scope, by: "command" }, io);
  },
});

export const deny = command({
  description:
    "Deny calls. A denial counts for the tool until the execution ends, so its other calls of the tool that wait are denied as well.",
  args: {
    ids: idsArg,
    "all-of": allOfArg,
    reason: option("Why: the error that the program gets says it", { valueHint: "text" }),
    all: flag("With --all-of: the calls of all configs"),
    config: configArgs.config,
  },
  examples: [
    "claudikins approvals deny 7k2m9q4x",
    'claudikins approvals deny 7k --reason "Refunds only after QA has looked"',
    "claudikins approvals deny --all-of github",
  ],
  json: record({ denied: listOf(approvalShape) }),
  async run(args, io) {
    await using approvals = new Approvals({ env: io.env });
    const rows = chosenRows(args, await approvals.list(), io);
    const reason = args.reason === undefined ? undefined : reasonIn(args.reason);
    return await decide(approvals, rows, { state: "denied", by: "command", reason }, io);
  },
});

function fieldsOf(rows: readonly Approval[], isDecided: boolean, isAll: boolean): (RowField<Approval> | undefined)[] {
  const now = Date.now();
  const times: RowField<Approval>[] = isDecided
    ? [
        ["decided", ({ decidedAt }) => ageText(now - (decidedAt ?? 0))],
        ["decision", ({ state, scope }) => stateCell(`${state}${scopeText(scope)}`)],
      ]
    : [
        ["asked", ({ askedAt }) => ageText(now - askedAt)],
        ["expires in", ({ expiresAt }) => waitText(Math.max(0, expiresAt - now))],
      ];
  return [
    ["id", ({ id }) => id],
    ...times,
    ["call", ({ server, tool }) => visible(toolId(server, tool))],
    [{ text: "arguments" }, (row) => visible(argumentsText(row)).slice(0, maxListedArgumentChars)],
    ["execution", ({ execution, line }) => `${execution}${line === null ? "" : `, line ${line}`}`],
    ...viewFields(rows),
    configField(isAll),
  ];
}

/** The arguments, or their beginning, in one line. */
function argumentsText(row: Approval): string {
  return hasWhole(row) ? JSON.stringify(parseExact(row.excerpt)) : row.excerpt.replace(/\n */g, "");
}

/** `whole` are all arguments as JSON, if they are stored. */
function wholeText(row: Approval, whole: string | undefined, { stdout: { columns = maxQuestionChars } }: Io): string {
  const { id, state, code, config, call, askedAt, expiresAt } = row;
  const now = Date.now();
  const isOpen = state === "open";
  const head = isOpen
    ? `${id}: asked ${ageText(now - askedAt)}, expires in ${waitText(Math.max(0, expiresAt - now))}`
    : `${id}: ${stateText(row)}`;
  const json = whole === undefined ? row.excerpt : JSON.stringify(parseExact(whole), null, 2);
  const isAll = whole !== undefined || hasWhole(row);
  const rest = `Only the beginning of its arguments is kept: they had ${grouped(row.argsBytes)} bytes`;
  return [
    `${head}\n`,
    wholeQuestionText({ ...row, changed: row.changed ?? undefined }, json, Math.min(columns, maxQuestionChars)),
    ...(isAll ? [] : [rest]),
    `Config: ${visible(configText(config))}${row.door === null ? "" : `, door ${visible(row.door)}`}`,
    ...(row.personName === null ? [] : [`Person: ${visible(row.personName)}`]),
    `Execution ${row.execution}, call ${call}${row.line === null ? "" : `, line ${row.line}`}`,
    ...(code === null ? [] : [`    ${visible(code)}`]),
    "",
  ].join("\n");
}

/** Characters of the line of one difference, so that no terminal breaks it where an argument wants it. */
const maxDifferenceChars = 90;

/** Each line ends with a line break. Empty if nothing is known. */
function factsText({ asker, reads, lastApproved }: ApprovalFacts): string {
  return [...askerLines(asker), ...readLines(reads), ...differenceLines(lastApproved)]
    .map((line) => `${line}\n`)
    .join("");
}

function askerLines(asker: ApprovalFacts["asker"]): string[] {
  if (!asker) return [];
  const { agent, startedBy, folder, program } = asker;
  const parts = [
    agent ?? startedBy,
    ...(program === undefined ? [] : [`program ${program}`]),
    ...(folder === undefined ? [] : [`in ${folder}`]),
  ];
  return [`Asked by: ${visible(parts.join(", "))}`];
}

function readLines(reads: ApprovalFacts["reads"]): string[] {
  if (reads.length === 0) return ["Read before: nothing with a label"];
  const lines = reads.map(({ label, source, calls }) => {
    const [first] = calls;
    const when = first ? `call ${first.call}, ${ageText(Date.now() - first.at)}` : "earlier in its session";
    return `    ${label} data of ${visible(source)} (${when})`;
  });
  return ["Read before:", ...lines];
}

function differenceLines(last: ApprovalFacts["lastApproved"]): string[] {
  if (!last) return [];
  const { decidedAt, isWhole, changes, more, id } = last;
  const head = `Since the last approved call of this tool (${id}, ${ageText(Date.now() - decidedAt)})`;
  if (!isWhole) return [`${head}: not comparable, because only the beginning of its arguments is kept`];
  if (changes.length === 0) return [`${head}: the arguments are the same`];
  const lines = changes.map(({ at, kind, before, now }) => {
    const value = kind === "changed" ? `${before} → ${now}` : kind === "new" ? `new: ${now}` : `gone: ${before}`;
    return `    ${oneLine(visible(`${at}: ${value}`), maxDifferenceChars)}`;
  });
  return [`${head}:`, ...lines, ...(more > 0 ? [`    and ${counted(more, "more difference")}`] : [])];
}
