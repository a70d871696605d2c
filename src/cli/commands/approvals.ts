/** `claudikins approvals`: shows the calls that wait for a decision, and decides them. */

import { counted, grouped } from "../../base/counted.ts";
import { ageText, waitText } from "../../base/duration.ts";
import { ClaudikinsError } from "../../base/errors.ts";
import { parseExact } from "../../base/exact-json.ts";
import {
  about,
  anything,
  byName,
  either,
  list as listOf,
  nothing,
  number,
  oneOf,
  record,
  text,
  texts,
  time,
} from "../../base/json-shape.ts";
import { shellWord } from "../../base/shell-word.ts";
import { oneLine } from "../../base/visible-text.ts";
import { isAnsweredFor } from "../../config/trust/require.ts";
import { Approvals } from "../../policy/approvals/approvals.ts";
import { questionText, wholeQuestionText } from "../../policy/question-text.ts";
import { visible } from "../../policy/visible.ts";
import { approvalFacts } from "../../programs/approvals/approval-facts.ts";
import { factsShape } from "../../programs/approvals/facts-shape.ts";
import { personShape } from "../../programs/trace/record.ts";
import { configText } from "../../programs/trace/record-text.ts";
import { alwaysAllow, type LastingRule, lastingRule } from "../../setup/settings/always-allow.ts";
import {
  type Approval,
  type ApprovalScope,
  approvalScopes,
  type Decision,
  hasWhole,
  maxReasonChars,
  scopeText,
} from "../../store/approval.ts";
import { openStore } from "../../store/open.ts";
import { toolId } from "../../tools/model.ts";
import { type CommandAnswer, command, flag, option, place, several } from "../command.ts";
import { continuedInDaemon } from "../daemon/continue-in-daemon.ts";
import { configArgs } from "../flags/config-flags.ts";
import { oneWordOf } from "../flags/flags.ts";
import type { Io } from "../io.ts";
import { factsText } from "../output/approval-facts-text.ts";
import { chosenOwner, configField, idLike, listAnswer, ofChosen, viewFields } from "../output/nouns.ts";
import { stateCell } from "../terminal/palette.ts";
import { canAsk, confirm } from "../terminal/prompt.ts";
import type { RowField } from "../terminal/table.ts";

/** Maximum width of a question about a call. */
const maxQuestionChars = 100;

/** Characters of a call's arguments in the list of approvals. */
const maxListedArgumentChars = 60;

const approvalKeys = {
  id: text,
  state: oneOf("open", "approved", "denied", "expired", "withdrawn"),
  config: about("The config file; null for the demo", either(text, nothing)),
  "door?": about("The door of the config behind which the execution runs", text),
  "person?": about("The person for whom the execution runs, who has signed in to serve --http", personShape),
  server: text,
  tool: text,
  "args?": about(
    "All arguments, without the secrets of the config. Missing where only their beginning is stored, and in lists if they are long",
    byName(anything),
  ),
  excerpt: about("The beginning of the arguments as indented JSON", text),
  argsBytes: about("Bytes of all arguments as JSON", number),
  why: about('The end of "You are asked because …"', text),
  told: about("The same for the agent, without data", text),
  "changed?": about("What has changed since an earlier permission", texts),
  execution: text,
  call: about("The number of the call in its execution", number),
  "line?": about("The line of the code that makes the call", number),
  "code?": text,
  askedAt: time,
  expiresAt: time,
  "decidedAt?": time,
  "decidedBy?": oneOf("agent", "terminal", "page", "command"),
  "scope?": oneOf(...approvalScopes),
  "reason?": about("Why it was denied, as the program was told", text),
};
const approvalShape = record(approvalKeys);

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

function jsonOf(approval: Approval) {
  const {
    bound: _,
    owner: _owner,
    argsChars: _chars,
    door,
    person,
    personName,
    changed,
    line,
    code,
    decidedAt,
    decidedBy,
    scope,
    reason,
    ...row
  } = approval;
  const ofPerson = person === null ? null : { id: person, name: personName ?? person };
  const known = { door, person: ofPerson, changed, line, code, decidedAt, decidedBy, scope, reason };
  const args = hasWhole(approval) ? { args: parseExact(row.excerpt) } : {};
  return { ...row, ...args, ...Object.fromEntries(Object.entries(known).filter(([, value]) => value !== null)) };
}

/** Throws APPROVAL_NOT_FOUND, and USAGE if several ids fit. */
function rowOf(wanted: string, rows: readonly Approval[]): Approval {
  const fitting = rows.filter(({ id }) => id === wanted || id.startsWith(wanted) || id.endsWith(wanted));
  const open = fitting.filter(({ id, state }) => id === wanted || state === "open");
  const ids = (open.length > 0 ? open : fitting).map(({ id }) => id);
  const id = idLike(wanted, ids, `Several ids fit "${wanted}"`);
  const row = rows.find((each) => each.id === id);
  if (row) return row;
  throw new ClaudikinsError("APPROVAL_NOT_FOUND", `There is no approval "${wanted}"`, { hint: listHint });
}

const listHint = "To list the calls that wait: claudikins approvals --all";

/** The open rows that the ids or `--all-of` name. Throws USAGE and APPROVAL_NOT_FOUND. */
function chosenRows(
  args: { ids: string[]; "all-of"?: string | undefined; all?: boolean | undefined; config?: string | undefined },
  all: readonly Approval[],
  io: Io,
): Approval[] {
  const { ids, "all-of": allOf } = args;
  if (allOf === undefined) {
    if (ids.length === 0) throw new ClaudikinsError("USAGE", "Give an id or --all-of", { hint: listHint });
    if (args.all) throw new ClaudikinsError("USAGE", "--all belongs to --all-of");
    return [...new Set(ids.map((id) => openRowOf(id, all)))];
  }
  if (ids.length > 0) throw new ClaudikinsError("USAGE", "Give ids or --all-of, not both");
  const rows = ofChosen(all, args, io).filter(
    ({ state, server, tool }) => state === "open" && (allOf === server || allOf === toolId(server, tool)),
  );
  // `a.b.c` can be a tool of `a`, a tool of `a.b`, or a server. One must not be approved where another was meant.
  const meant = new Set(rows.map(({ server, tool }) => JSON.stringify(allOf === server ? [server] : [server, tool])));
  if (meant.size > 1) {
    throw new ClaudikinsError("USAGE", `${allOf} can mean ${meant.size} different tools or servers that wait`, {
      hint: `Give the ids of the calls instead. ${listHint}`,
    });
  }
  if (rows.length > 0) return rows;
  const where = args.all ? "" : " with this config";
  throw new ClaudikinsError("APPROVAL_NOT_FOUND", `No call of ${allOf} waits for approval${where}`, { hint: listHint });
}

function openRowOf(wanted: string, all: readonly Approval[]): Approval {
  const row = rowOf(wanted, all);
  if (row.state === "open") return row;
  throw new ClaudikinsError("APPROVAL_NOT_FOUND", `The call ${row.id} no longer waits: ${stateText(row)}`, {
    hint: row.state === "expired" ? "Run the program again to be asked again." : listHint,
  });
}

/** How a row ended, with its time. */
function stateText({ state, decidedAt, decidedBy, scope, reason }: Approval): string {
  const when = ageText(Date.now() - (decidedAt ?? 0));
  const where =
    decidedBy === null
      ? ""
      : { agent: " in the agent", terminal: " at the terminal", page: " on the page", command: "" }[decidedBy];
  if (state === "open") return "it waits";
  if (state === "expired") return `it expired ${when}`;
  if (state === "withdrawn") return `it was withdrawn ${when}`;
  return `it was ${state}${scopeText(scope)}${where} ${when}${reason === null ? "" : `, with the reason ${JSON.stringify(visible(reason))}`}`;
}

/** The questions about open rows. Throws APPROVAL_NOT_FOUND if one is no longer open. */
async function questionsOf(approvals: Approvals, rows: readonly Approval[]): Promise<string[]> {
  const questions: string[] = [];
  for (const row of rows) {
    const json = await approvals.argumentsOf(row.id);
    if (json === undefined) {
      throw new ClaudikinsError("APPROVAL_NOT_FOUND", `The call ${row.id} no longer waits`, { hint: listHint });
    }
    const question = questionText({ ...row, args: parseExact(json) as object, changed: row.changed ?? undefined });
    questions.push(`${row.id}: ${placeText(row)}\n${question}\n`);
  }
  return questions;
}

/** Throws POLICY_DENIED without a terminal, and CANCELLED if the user does not agree. */
async function askPerson(approvals: Approvals, rows: readonly Approval[], rest: string, io: Io): Promise<void> {
  if (!canAsk(io)) {
    throw new ClaudikinsError("POLICY_DENIED", "Only a person can approve a call, and this command has no terminal", {
      hint: "Run it in your own terminal.",
    });
  }
  const questions = await questionsOf(approvals, rows);
  await io.stderr.write(questions.join("\n"));
  await io.stdin.dropTyped();
  const what = rows.length === 1 ? "this call" : `these ${rows.length} calls`;
  if (!(await confirm(io, `Approve ${what}${rest}?`))) {
    throw new ClaudikinsError("CANCELLED", "Nothing was approved");
  }
}

function restText(scope: ApprovalScope): string {
  return scope === "once" ? "" : `, and further calls of the same tools until the ${scope} ends`;
}

/** Throws USAGE if it is too long. */
function reasonIn(text: string): string {
  const reason = oneLine(text, Number.POSITIVE_INFINITY).trim();
  if (reason.length > maxReasonChars)
    throw new ClaudikinsError("USAGE", `The reason has more than ${maxReasonChars} characters`);
  if (reason === "") throw new ClaudikinsError("USAGE", "The reason is empty");
  return reason;
}

/** Shows the rule, approves one call, and writes the rule. Throws USAGE for several calls, and POLICY_DENIED if no rule would help. */
async function approveAlways(
  approvals: Approvals,
  rows: readonly Approval[],
  flag: string | undefined,
  io: Io,
): Promise<CommandAnswer> {
  const [row, ...others] = rows;
  if (!row || others.length > 0) throw new ClaudikinsError("USAGE", "--for always needs exactly one call");
  const which = { flag: row.config ?? undefined, cwd: io.cwd, env: io.env };
  const options = { which, place: "command", isAnswered: isAnsweredFor({ flag, env: io.env }) } as const;
  const rule = await lastingRule(row, options);
  await io.stderr.write(`This rule would be written to ${rule.file}:\n${ruleLines(rule)}\n`);
  await askPerson(approvals, rows, " and write the rule", io);
  return await decide(approvals, rows, { state: "approved", scope: "once", by: "command" }, io, () =>
    alwaysAllow(row, rule.mark, approvals, options),
  );
}

function ruleLines({ changes }: LastingRule): string {
  return changes
    .map(({ at, before, after }) => `    ${visible(`${at}: ${before ?? "(nothing)"} → ${after ?? "(nothing)"}`)}\n`)
    .join("");
}

/** Decides with `make`, for each row. Throws APPROVAL_NOT_FOUND if nothing was decided. */
async function decide(
  approvals: Approvals,
  rows: readonly Approval[],
  decision: Decision,
  io: Io,
  make = (id: string) => approvals.decide(id, decision),
): Promise<CommandAnswer> {
  const byId = new Map<string, Approval>();
  const late: string[] = [];
  for (const { id } of rows) {
    if (byId.has(id)) continue;
    const changed = await make(id);
    for (const row of changed) byId.set(row.id, row);
    if (changed.length > 0) continue;
    const now = await approvals.get(id);
    late.push(`note: ${id} no longer waits: ${now ? stateText(now) : "it was removed"}\n`);
  }
  const decided = [...byId.values()];
  const stopped = await continueStopped(approvals, decided, io);
  if (decided.length === 0) {
    throw new ClaudikinsError("APPROVAL_NOT_FOUND", "Nothing changed: the call was already decided", {
      hint: listHint,
    });
  }
  const verb = decision.state === "approved" ? "Approved" : "Denied";
  const lines = decided.map((row) => `${verb} ${visible(toolId(row.server, row.tool))} (${row.id})\n`);
  return {
    json: { [decision.state]: decided.map(jsonOf) },
    text: lines.join(""),
    note: [...late, ...stopped].join(""),
  };
}

/** Lets the daemon, or a replica, continue the executions that no process runs. Returns what to tell the user. */
async function continueStopped(approvals: Approvals, rows: readonly Approval[], io: Io): Promise<string[]> {
  const waited = await Promise.all(rows.map((row) => approvals.isWaitedFor(row)));
  const stopped = Map.groupBy(
    rows.filter((_, at) => !waited[at]),
    ({ config }) => config,
  );
  const notes: string[] = [];
  for (const [config, of] of stopped) {
    const ids = [...new Set(of.map(({ execution }) => execution))];
    if (approvals.areShared) {
      // The database tells the replicas.
      notes.push(...ids.map((id) => `note: a replica of claudikins serve --http continues execution ${id}\n`));
      continue;
    }
    const continued = await continuedInDaemon(ids, config ?? undefined, {}, io);
    for (const id of ids) {
      const where = config === null ? "" : ` --config ${shellWord(config)}`;
      notes.push(
        continued.includes(id)
          ? `note: the daemon continues execution ${id}. For its outcome: claudikins executions wait ${id}${where}\n`
          : `note: no process runs execution ${id}. To continue it: claudikins executions wait ${id}${where}\n`,
      );
    }
  }
  return notes;
}

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

function placeText({ execution, line, door, personName, askedAt }: Approval): string {
  const whose = personName === null ? "" : ` of ${visible(personName)}`;
  const where = `${whose}${door === null ? "" : ` behind the door ${visible(door)}`}`;
  return `asked ${ageText(Date.now() - askedAt)}, execution ${execution}${where}${line === null ? "" : `, line ${line}`}`;
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
