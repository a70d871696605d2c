/** `claudikins executions compare`: two executions side by side. */

import { counted, grouped } from "../base/counted.ts";
import { ageText, durationText } from "../base/duration.ts";
import { ClaudikinsError } from "../base/errors.ts";
import { oneLine, visibleText } from "../base/visible-text.ts";
import { choicesFor, usualChoice } from "../programs/comparing/choices.ts";
import { compared, tellingCalls } from "../programs/comparing/compare.ts";
import {
  type CallPart,
  type ComparedCall,
  type ComparedSide,
  type Comparison,
  comparisonShape,
  type TextDifference,
} from "../programs/comparing/comparison.ts";
import { type ComparedExecution, recordedContents, storedContents } from "../programs/comparing/contents.ts";
import type { ExecutionRecord, RecordedCall } from "../programs/trace/record.ts";
import { tookMs, toolOf } from "../programs/trace/record-text.ts";
import { readRecord } from "../programs/trace/store.ts";
import { openStore } from "../store/open.ts";
import type { Store } from "../store/store.ts";
import { type AllExecutions, allExecutions, executionPlace, idIn, recorded } from "./all-executions.ts";
import { command, option } from "./command.ts";
import { type ConfigFlags, viewArgs } from "./flags/config-flags.ts";
import { countUpTo } from "./flags/flags.ts";
import type { Io } from "./io.ts";
import { defaultCalls } from "./limits.ts";
import { openApp } from "./open-app.ts";
import { tableOf } from "./terminal/table.ts";
import { bold, dim, green, red, yellow } from "./terminal/terminal-output.ts";

export const compare = command({
  description:
    "Compare two executions that have ended: state, time, calls side by side in their order, code, value and logs. The one that began first is the earlier one. " +
    "Without a second execution, the first one is compared with the one that it was run again from, or with the latest earlier one of the same program or the same code. " +
    "Arguments, results and values are compared if they were recorded (exec --record), otherwise their sizes.",
  args: {
    execution: executionPlace({ required: true, complete: "execution" }),
    with: executionPlace({ required: false, complete: "execution" }),
    limit: option(`Maximum number of calls to show (default ${defaultCalls}, those that differ first)`, {
      short: "n",
      ...countUpTo(100_000),
    }),
    ...viewArgs,
  },
  examples: ["claudikins executions compare last", "claudikins executions compare last --json"],
  json: comparisonShape,
  async run(args, io) {
    await using store = openStore(io.env);
    const all = await allExecutions(args, io, store);
    const record = await recordIn(all, args.execution, store);
    const other =
      args.with === undefined ? await usualOther(record, store) : await recordIn(all, args.with, store, record);
    const json = compared(...(await contentsOf([record, other], args, io)));
    return { json, text: comparisonText(json, args.limit ?? defaultCalls, io.stdout.columns) };
  },
});

/** Throws FILE_NOT_FOUND and USAGE. */
async function recordIn(
  all: AllExecutions,
  wanted: string,
  store: Store,
  first?: ExecutionRecord,
): Promise<ExecutionRecord> {
  const id = idIn(all, wanted);
  if (id === first?.id) throw new ClaudikinsError("USAGE", `"${wanted}" is the same execution as the first one`);
  return recorded(() => readRecord(store, id), id);
}

/** Throws USAGE if there is no execution that is likely meant. */
async function usualOther(record: ExecutionRecord, store: Store): Promise<ExecutionRecord> {
  const usual = usualChoice(record, await choicesFor(record, store));
  const other = usual && (await readRecord(store, usual.summary.id));
  if (other) return other;
  throw new ClaudikinsError(
    "USAGE",
    `No execution of the same program or the same code as "${record.id}" is recorded`,
    {
      hint: `Name another one: claudikins executions compare ${record.id} ID. To list them: claudikins executions`,
    },
  );
}

/** Records can be read without the config, which may be broken or untrusted. The store has more of programs in the background. */
async function contentsOf(
  records: [ExecutionRecord, ExecutionRecord],
  flags: ConfigFlags,
  io: Io,
): Promise<[ComparedExecution, ComparedExecution]> {
  const [one, other] = records;
  try {
    await using app = await openApp(io, flags, { asks: false });
    const executions = await app.executions();
    return [await storedContents(one, app, executions), await storedContents(other, app, executions)];
  } catch (error) {
    if (flags.door !== undefined || !(error instanceof ClaudikinsError)) throw error;
    return [recordedContents(one), recordedContents(other)];
  }
}

/** Characters of a name or a message. */
const maxTextChars = 200;

/** Characters of arguments that differ. */
const maxArgumentChars = 60;

/** `limit` is the number of calls that are shown. Calls that differ come before equal ones if there are more. */
function comparisonText(comparison: Comparison, limit: number, columns: number | undefined): string {
  const { earlier, later, code, value, logs } = comparison;
  const isRecorded = earlier.hasContents && later.hasContents;
  const lines = [
    ...sidesText(earlier, later, columns),
    "",
    ...callsText(comparison, limit),
    ...(isRecorded
      ? []
      : [dim("Not both were recorded with contents, so only sizes were compared. For contents: exec --record")]),
    ...differenceText("Code", code),
    ...differenceText("Value", value),
    ...differenceText("Logs", logs),
  ];
  return lines.map((line) => `${line.trimEnd()}\n`).join("");
}

function sidesText(earlier: ComparedSide, later: ComparedSide, columns: number | undefined): string[] {
  const facts: [string, (side: ComparedSide) => string][] = [
    ["id", ({ id }) => id],
    ["began", ({ at }) => ageText(Date.now() - at)],
    ["state", ({ state, dryRun }) => `${dryRun ? "dry run, " : ""}${state}`],
    ["failure", ({ failure = "" }) => oneLine(failure, maxTextChars)],
    ["time", ({ durationMs }) => durationText(durationMs)],
    ["calls", ({ calls }) => grouped(calls)],
    ["failed", ({ failures }) => (failures === 0 ? "" : grouped(failures))],
    ["read", ({ charsIn }) => counted(charsIn, "character")],
    ["returned", ({ charsOut }) => counted(charsOut, "character")],
  ];
  const rows = facts
    .map(([name, textOf]) => [name, textOf(earlier), textOf(later)] as const)
    .filter(([, one, other]) => one !== "" || other !== "");
  const table = tableOf(rows, columns, [
    [{ text: "" }, ([name]) => name],
    [{ text: "earlier" }, ([, one]) => one],
    [{ text: "later" }, ([, , other]) => other],
  ]);
  return table.trimEnd().split("\n");
}

function callsText({ calls, moreCalls }: Comparison, limit: number): string[] {
  const shown = tellingCalls(calls, limit);
  const left = calls.length - shown.length;
  return [
    bold(headOf(calls)),
    ...shown.map(callText),
    ...(left > 0 ? [dim(`… ${counted(left, "more call")}: --limit shows more`)] : []),
    ...(moreCalls > 0 ? [dim(`… ${counted(moreCalls, "later call")} of both were not compared`)] : []),
  ];
}

function headOf(calls: readonly ComparedCall[]): string {
  if (calls.length === 0) return "Calls: none";
  const counts = Object.entries(Object.groupBy(calls, ({ change }) => change)).map(
    ([change, all]) => `${grouped(all.length)} ${change}`,
  );
  return `Calls: ${counts.join(", ")}`;
}

function callText({ change, differs, earlier, later }: ComparedCall): string {
  if (!later) return red(`- ${nameOf(earlier!)}  ${endOf(earlier!)}`);
  if (!earlier) return green(`+ ${nameOf(later)}  ${endOf(later)}`);
  if (change === "same") return `  ${nameOf(later)}  ${dim(endOf(later))}`;
  return `${yellow("~")} ${nameOf(later)}  ${differs.map((part) => partText[part](earlier, later)).join(" · ")}`;
}

const partText: Record<CallPart, (earlier: RecordedCall, later: RecordedCall) => string> = {
  arguments: (one, other) => {
    if (!one.arguments || !other.arguments)
      return `arguments ${fromTo(`${grouped(one.argumentChars)}`, `${grouped(other.argumentChars)} characters`)}`;
    return `arguments ${fromTo(oneLine(one.arguments.text, maxArgumentChars), oneLine(other.arguments.text, maxArgumentChars))}`;
  },
  outcome: (one, other) => fromTo(outcomeText(one), outcomeText(other)),
  result: ({ resultChars: one }, { resultChars: other }) =>
    one === other
      ? `another result, ${grouped(other)} characters`
      : `result ${fromTo(grouped(one), `${grouped(other)} characters`)}`,
  duration: (one, other) => fromTo(durationText(tookMs(one)), durationText(tookMs(other))),
};

const fromTo = (earlier: string, later: string) => `${earlier} ${yellow("→")} ${later}`;

const nameOf = (call: RecordedCall) => oneLine(toolOf(call), maxTextChars);

function endOf(call: RecordedCall): string {
  const { outcome, resultChars, notMade } = call;
  if (notMade) return outcomeText(call);
  const end = outcome === "ok" ? `${grouped(resultChars)} characters` : outcomeText(call);
  return `${end}, ${durationText(tookMs(call))}`;
}

function outcomeText({ outcome, code, notMade }: RecordedCall): string {
  if (notMade) return "not made";
  return outcome === "failed" ? `failed${code === undefined ? "" : ` (${oneLine(code, maxTextChars)})`}` : outcome;
}

function differenceText(name: string, { isSame, missing, isCut, lines, moreLines }: TextDifference): string[] {
  const cut = isCut ? " (only the beginnings were compared)" : "";
  if (isSame === null) return ["", `${bold(`${name}:`)} not stored of the ${missing.join(" and the ")} one`];
  if (isSame) return ["", `${bold(`${name}:`)} the same${cut}`];
  return [
    "",
    `${bold(`${name}:`)} different${cut}`,
    ...lines.map(({ kind, text }) => styles[kind](visibleText(text))),
    ...(moreLines > 0 ? [dim(`… ${counted(moreLines, "more line")}`)] : []),
  ];
}

const styles = {
  same: (line: string) => `  ${line}`,
  added: (line: string) => green(`+ ${line}`),
  removed: (line: string) => red(`- ${line}`),
  skipped: (count: string) => dim(`  … ${counted(Number(count), "equal line")}`),
};
