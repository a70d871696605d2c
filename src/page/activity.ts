/** Reads the filter of the list of executions from an address, and shows one execution with its calls. */
import type { App } from "../app/app.ts";
import { toClaudikinsError } from "../base/errors.ts";
import { indentedJson } from "../base/json-object.ts";
import { shellWord } from "../base/shell-word.ts";
import { activityStates } from "../programs/execution/activity.ts";
import type { RecordedSoFar } from "../programs/execution/recording.ts";
import { programAgain } from "../programs/execution/run-again.ts";
import { isOfOtherBuild } from "../programs/execution/stored-executions.ts";
import { isId } from "../programs/trace/id.ts";
import type { Excerpt, ExecutionRecord, RecordedCall } from "../programs/trace/record.ts";
import { failureOf, tookMs } from "../programs/trace/record-text.ts";
import { type ActivityFilter, activityOrders } from "../store/activity.ts";
import type { StoredExecution } from "../store/executions.ts";
import type { PageAbout, PageCall } from "./activity-contract.ts";
import type { AskedRows } from "./executions.ts";
import { RefusedRequest } from "./guard.ts";

/** Characters of one condition of a filter. */
const maxConditionChars = 500;

/** Executions that one request of the list may ask for. */
const maxReadRows = 1_000;

/** Calls of one execution on the page. */
export const maxShownCalls = 300;

/** Characters of the arguments of one call, and of its answer. The timeline has more. */
const maxCallTextChars = 2_000;

/** Characters of the code on the page. The editor and the timeline have more. */
const maxShownCodeChars = 50_000;

/** Characters of code that is copied as a command. */
const maxCopiedCodeChars = 100_000;

/** Throws RefusedRequest for a filter that the page does not make. */
export function activityIn(search: URLSearchParams): { filter: ActivityFilter; asked: AskedRows } {
  const condition = (name: string) => {
    const text = search.get(name) ?? undefined;
    if ((text?.length ?? 0) > maxConditionChars) throw new RefusedRequest(400, `The condition "${name}" is too long`);
    return text === "" ? undefined : text;
  };
  const state = condition("state");
  const [since, until] = [condition("since"), condition("until")];
  const after = condition("after");
  const order = activityOrders.find((each) => each === (condition("order") ?? "newest"));
  const rows = condition("rows");
  const isCount = rows === undefined || (/^[1-9]\d{0,4}$/.test(rows) && Number(rows) <= maxReadRows);
  const isKnown = state === undefined || (activityStates as readonly string[]).includes(state);
  const isTime = [since, until].every((time) => time === undefined || Number.isSafeInteger(Number(time)));
  if (!isKnown || !isTime || !isCount || !order || (after !== undefined && !isId(after))) {
    throw new RefusedRequest(400, "The filter is not as expected");
  }
  const server = condition("server");
  return {
    filter: {
      door: condition("door"),
      agent: condition("agent"),
      server,
      tool: server === undefined ? undefined : condition("tool"),
      states: state === undefined ? undefined : [state],
      person: condition("person"),
      since: since === undefined ? undefined : Number(since),
      until: until === undefined ? undefined : Number(until),
      text: condition("text"),
    },
    asked: { after, order, rows: rows === undefined ? undefined : Number(rows) },
  };
}

const notRecorded =
  'Arguments and answers are not recorded. To have them next time: "record": "contents" in the config, or exec --record, serve --record.';

/** The calls and the code of a record, and why it failed. */
export function recordedCalls(
  record: ExecutionRecord,
): Pick<PageAbout, "calls" | "more" | "noContents" | "failure" | "failedLine" | "code"> {
  const { timeline, moreCalls, error, hasContents } = record;
  const code = record.code.text?.slice(0, maxShownCodeChars);
  const calls = timeline.slice(0, maxShownCalls).map(shownCall);
  const more = timeline.length - calls.length + moreCalls;
  const noContents = hasContents || calls.length === 0 ? undefined : notRecorded;
  const failure = record.ok ? {} : { failure: failureOf(record) };
  return { calls, more, noContents, code, failedLine: error?.line, ...failure };
}

export function shownCall(call: RecordedCall): PageCall {
  return {
    server: call.server,
    tool: call.tool,
    line: call.line,
    outcome: call.outcome,
    startMs: call.startMs,
    tookMs: tookMs(call),
    waitedMs: call.waitedMs,
    code: call.code,
    isPlanned: call.notMade === true,
    argumentChars: call.argumentChars,
    resultChars: call.resultChars,
    arguments: shownExcerpt(call.arguments),
    answer: shownExcerpt(call.result) ?? call.message,
  };
}

function shownExcerpt(excerpt: Excerpt | undefined): string | undefined {
  if (!excerpt) return undefined;
  const { text, isWhole } = excerpt;
  return isWhole && text.length <= maxCallTextChars ? indentedJson(text) : `${text.slice(0, maxCallTextChars)} …`;
}

/** The calls of an execution that has no record yet: the call log has those that have ended, and its program the ones that wait. */
export async function callsSoFar(id: string, app: App): Promise<Pick<PageAbout, "calls" | "more" | "noContents">> {
  const executions = await app.executions();
  const { row, calls } = await executions.stored.look(id, app);
  const recorded = await executions.recordedSoFar(row, app);
  const { callLog } = app.store;
  const filter = { config: row.config ?? undefined, since: row.startedAt, execution: id };
  // The last ones led to the calls that wait.
  const logged = (await callLog.read(filter, { order: "newest first", limit: maxShownCalls })).reverse();
  const known = new Map(recorded?.calls.map(({ number, call }) => [number, shownCall(call)]));
  const ended = logged.map(
    (each): PageCall => ({
      ...known.get(each.call ?? undefined),
      server: each.server,
      tool: each.tool,
      outcome: each.outcome === "ok" || each.outcome === "cancelled" ? each.outcome : "failed",
      startMs: Math.max(0, each.at - row.startedAt),
      tookMs: each.durationMs,
      waitedMs: each.waitedMs,
      code: each.code ?? undefined,
      isPlanned: false,
    }),
  );
  const open = calls
    .filter(({ state }) => state !== "answered" || logged.length === 0)
    .map(({ tool: called, line, state }): PageCall => {
      const [server = "", ...rest] = called.split(".");
      return { server, tool: rest.join("."), line, outcome: state === "answered" ? "ok" : "open", isPlanned: false };
    });
  const earlier = logged.length < maxShownCalls ? 0 : (logged[0]?.call ?? 1) - 1;
  return {
    calls: [...ended, ...open],
    more: earlier,
    noContents: ended.length > 0 ? whyNone(row, recorded) : undefined,
  };
}

/** Why arguments and answers are missing. Undefined if they are there. */
function whyNone(row: StoredExecution, recorded: RecordedSoFar | undefined): string | undefined {
  if (recorded) return recorded.hasContents ? undefined : notRecorded;
  if (isOfOtherBuild(row))
    return "Another build of claudikins has saved it, so its arguments and answers are shown when it has ended.";
  if (row.unsaved !== null)
    return `Its program could not be saved, so its arguments and answers are not here: ${row.unsaved}.`;
  if (!row.isSaved) return "Arguments and answers are shown when it waits, or has ended.";
  return notRecorded;
}

export type Again = Pick<PageAbout, "code" | "canRunAgain" | "hasCode" | "command" | "notAgain">;

/** How the code of an execution can be run again. Throws EXECUTION_NOT_FOUND. */
export async function againOf(id: string, app: App): Promise<Again> {
  const executions = await app.executions();
  const { source } = await programAgain(id, app, executions, { isDryRun: true });
  const code = source.slice(0, maxShownCodeChars);
  try {
    await programAgain(id, app, executions);
    return { code, canRunAgain: true, hasCode: true, command: commandOf(source, app.config.door) };
  } catch (error) {
    return { ...notAgain(error), code, hasCode: true };
  }
}

export function notAgain(error: unknown): Again {
  const { message, hint } = toClaudikinsError(error);
  return { canRunAgain: false, notAgain: [message, hint].filter(Boolean).join(". ") };
}

/** Undefined for code that is too long, or that a terminal could obey or show in another way. */
function commandOf(source: string, door: string | undefined): string | undefined {
  if (source.length > maxCopiedCodeChars || /(?![\n\t])\p{Cc}|\p{Bidi_Control}/u.test(source)) return undefined;
  const behind = door === undefined ? "" : `--door ${shellWord(door)} `;
  return `claudikins exec ${behind}-e ${shellWord(source)}`;
}
