/** Finds the calls that wait and that arguments name, asks a person about them, and decides them. */
import { ageText } from "../../base/duration.ts";
import { ClaudikinsError } from "../../base/errors.ts";
import { parseExact } from "../../base/exact-json.ts";
import { shellWord } from "../../base/shell-word.ts";
import { oneLine } from "../../base/visible-text.ts";
import { isAnsweredFor } from "../../config/trust/require.ts";
import type { Approvals } from "../../policy/approvals/approvals.ts";
import { visible } from "../../policy/hidden-characters.ts";
import { questionText } from "../../policy/question-text.ts";
import { alwaysAllow, type LastingRule, lastingRule } from "../../setup/settings/always-allow.ts";
import { type Approval, type ApprovalScope, type Decision, maxReasonChars, scopeText } from "../../store/approval.ts";
import { toolId } from "../../tools/model.ts";
import type { CommandAnswer } from "../command.ts";
import { continuedInDaemon } from "../daemon/continue-in-daemon.ts";
import type { Io } from "../io.ts";
import { idLike, ofChosen } from "../output/nouns.ts";
import { canAsk, confirm } from "../terminal/prompt.ts";
import { jsonOf } from "./approval-json.ts";

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
export async function askPerson(approvals: Approvals, rows: readonly Approval[], rest: string, io: Io): Promise<void> {
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

export function restText(scope: ApprovalScope): string {
  return scope === "once" ? "" : `, and further calls of the same tools until the ${scope} ends`;
}

/** Throws USAGE if it is too long. */
export function reasonIn(text: string): string {
  const reason = oneLine(text, Number.POSITIVE_INFINITY).trim();
  if (reason.length > maxReasonChars)
    throw new ClaudikinsError("USAGE", `The reason has more than ${maxReasonChars} characters`);
  if (reason === "") throw new ClaudikinsError("USAGE", "The reason is empty");
  return reason;
}

/** Shows the rule, approves one call, and writes the rule. Throws USAGE for several calls, and POLICY_DENIED if no rule would help. */
export async function approveAlways(
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
export async function decide(
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

function placeText({ execution, line, door, personName, askedAt }: Approval): string {
  const whose = personName === null ? "" : ` of ${visible(personName)}`;
  const where = `${whose}${door === null ? "" : ` behind the door ${visible(door)}`}`;
  return `asked ${ageText(Date.now() - askedAt)}, execution ${execution}${where}${line === null ? "" : `, line ${line}`}`;
}

/** Throws APPROVAL_NOT_FOUND, and USAGE if several ids fit. */
export function rowOf(wanted: string, rows: readonly Approval[]): Approval {
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
export function chosenRows(
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
export function stateText({ state, decidedAt, decidedBy, scope, reason }: Approval): string {
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
