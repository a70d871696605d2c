/** `claudikins calls`: who called what, as a list or as JSON lines. */

import { grouped } from "../../base/counted.ts";
import { durationText } from "../../base/duration.ts";
import { about, either, list as listOf, nothing, number, oneOf, record, text, time } from "../../base/json-shape.ts";
import { callersNamed } from "../../page/calls.ts";
import { callFigures, callFiguresKeys, callGroups, starterTexts } from "../../programs/call-log/figures.ts";
import { outcomeWords, shownOutcomes } from "../../programs/call-log/outcome-words.ts";
import { configText } from "../../programs/trace/record-text.ts";
import { readTokens, tokenId } from "../../serve/tokens/token-file.ts";
import { scopeText } from "../../store/approval.ts";
import {
  type CallFilter,
  type CallOutcome,
  callOutcomes,
  callStarters,
  eachCall,
  type StoredCall,
} from "../../store/call-log.ts";
import { openStore } from "../../store/open.ts";
import type { Store } from "../../store/store.ts";
import { toolId } from "../../tools/model.ts";
import { type ArgumentValues, command, flag, option } from "../command.ts";
import { countUpTo, oneWordOf, pastTime } from "../flags/flags.ts";
import type { Io } from "../io.ts";
import { defaultRows } from "../limits.ts";
import { listAnswer, localTime } from "../output/nouns.ts";
import { stateCell } from "../terminal/terminal-output.ts";

/** Characters that the export writes at once. */
const exportWriteChars = 65_536;

const filterArgs = {
  user: option("Only calls for this person, or with this token: an id, an email address or a name", {
    valueHint: "person",
    complete: "person",
  }),
  server: option("Only calls of this server", { valueHint: "name", complete: "server" }),
  tool: option("Only calls of this tool", { valueHint: "server.tool", complete: "tool" }),
  door: option("Only calls behind this door", { valueHint: "name", complete: "door" }),
  execution: option("Only calls of this execution", { valueHint: "id", complete: "execution" }),
  since: option("Only calls since then: 30m, 12h, 7d or a date such as 2026-11-23", pastTime),
  outcome: option("Only calls with this outcome: ok, failed, denied or cancelled", {
    valueHint: "outcome",
    ...oneWordOf(shownOutcomes),
  }),
  failed: flag("Only calls that were not answered with success"),
} as const;

const orNull = (what: typeof text) => either(what, nothing);

const callShape = record({
  id: text,
  at: about("When the call was made, in milliseconds since 1970", time),
  config: about("The config file; null for the demo", orNull(text)),
  door: orNull(text),
  person: about("The id of the person who has signed in", orNull(text)),
  personName: orNull(text),
  token: about("The id of the token", orNull(text)),
  agent: about("The agent, as it names itself; null for a command", orNull(text)),
  startedBy: about(
    "A program of a command, of an agent or of a schedule; or a single call of an agent (serve) or of a command (call)",
    oneOf(...callStarters),
  ),
  execution: orNull(text),
  call: about("The number of the call in its execution", either(number, nothing)),
  program: about("The saved program that made the call", orNull(text)),
  server: text,
  tool: about("The tool's own name, or another function such as resources.read", text),
  outcome: oneOf(...callOutcomes),
  code: about("Error code", orNull(text)),
  durationMs: about("Without the time in which a person was asked", number),
  waitedMs: about("The time in which a person was asked", number),
  argumentBytes: number,
  resultBytes: about("About the bytes of the result", number),
  sent: about("How often the call left for its server", number),
  approval: about(
    "What a person has decided: once, session, denied, expired, withdrawn or open. Null if nobody was asked",
    orNull(text),
  ),
  approvalId: about("The id of the decision in the audit log", orNull(text)),
  labels: about("The labels of the tool's data", orNull(text)),
});

export const list = command({
  description:
    "List the latest calls of tools, newest first: who made them, what was called and how it ended. The call log has no arguments and no results. Calls of the last second may be missing.",
  args: {
    ...filterArgs,
    limit: option(`Maximum number of calls (default ${defaultRows})`, { short: "n", ...countUpTo(10_000) }),
  },
  examples: [
    "claudikins calls",
    "claudikins calls list --since 7d --failed",
    "claudikins calls --user ada@example.com --json",
  ],
  json: record({ calls: listOf(callShape) }),
  async run(args, io) {
    await using store = openStore(io.env);
    const limit = args.limit ?? defaultRows;
    const filter = await filterOf(args, store, io);
    const calls = await store.callLog.read(filter, { order: "newest first", limit });
    const configs = new Set(calls.map(({ config }) => config));
    const rows = { json: { calls }, rows: calls, none: "The call log has no such calls.\n" };
    return listAnswer(io, rows, [
      ["when", ({ at }) => localTime(at, "seconds")],
      calls.some((call) => whoseOf(call) !== "") ? [{ text: "for" }, whoseOf] : undefined,
      [{ text: "by" }, byOf],
      calls.some(({ door }) => door !== null) ? ["door", ({ door }) => door ?? ""] : undefined,
      configs.size > 1 ? [{ path: "config" }, ({ config }) => configText(config)] : undefined,
      [{ text: "tool" }, ({ server, tool }) => toolId(server, tool)],
      ["outcome", ({ outcome, code }) => stateCell(outcome === "failed" ? (code ?? outcome) : outcomeWords[outcome])],
      calls.some(({ approval }) => approval !== null)
        ? ["decision", ({ approval }) => approvalText(approval)]
        : undefined,
      [{ number: "took" }, ({ durationMs }) => durationText(durationMs)],
      [{ number: "bytes" }, ({ resultBytes }) => grouped(resultBytes)],
    ]);
  },
});

const exported = command({
  description:
    "Print the calls of the call log as JSON lines, oldest first, for other programs. Lines have the same keys as the calls of `claudikins calls --json`.",
  args: filterArgs,
  examples: ["claudikins calls export > calls.jsonl", "claudikins calls export --since 2026-01-01 --server github"],
  async run(args, io) {
    await using store = openStore(io.env);
    const { stdout, interrupted } = io;
    let lines = "";
    for await (const call of eachCall(store.callLog, await filterOf(args, store, io), "oldest first")) {
      lines += `${JSON.stringify(call)}\n`;
      if (lines.length < exportWriteChars) continue;
      await stdout.write(lines);
      lines = "";
      if (stdout.isClosed || interrupted.aborted) return {};
    }
    return { text: lines };
  },
});

export { exported as export };

export const figures = command({
  description:
    "Sum up the call log: calls, errors, round trips and durations of each tool, server, agent, door, person or program, the most calls first. The view Figures of claudikins ui shows the same.",
  args: {
    by: option("What the calls are summed up by (default tool)", { valueHint: "what", ...oneWordOf(callGroups) }),
    ...filterArgs,
  },
  examples: [
    "claudikins calls figures --since 7d",
    "claudikins calls figures --by agent --since 24h",
    "claudikins calls figures --by server --failed --json",
  ],
  json: record(callFiguresKeys),
  async run(args, io) {
    await using store = openStore(io.env);
    const by = args.by ?? "tool";
    const { [by]: all } = await callFigures(store.callLog, await filterOf(args, store, io), [by]);
    const rows = { json: { figures: all }, rows: all, none: "The call log has no such calls.\n" };
    const timeText = (ms: number | null) => (ms === null ? "-" : durationText(ms));
    return listAnswer(io, rows, [
      [{ text: by }, ({ name }) => name ?? `no ${by}`],
      [{ number: "round trips" }, ({ roundTrips }) => grouped(roundTrips)],
      [{ number: "calls" }, ({ calls }) => grouped(calls)],
      [{ number: "failed" }, ({ failures }) => grouped(failures)],
      [{ number: "denied" }, ({ denied }) => grouped(denied)],
      [{ number: "p50" }, ({ p50Ms }) => timeText(p50Ms)],
      [{ number: "p95" }, ({ p95Ms }) => timeText(p95Ms)],
      [{ number: "time" }, ({ durationMs }) => durationText(durationMs)],
      [{ number: "bytes" }, ({ resultBytes }) => grouped(resultBytes)],
    ]);
  },
});

async function filterOf(
  { user, server, tool, door, execution, since, outcome, failed }: ArgumentValues<typeof filterArgs>,
  store: Store,
  { env }: Pick<Io, "env">,
): Promise<CallFilter> {
  const tokens = readTokens(env).filter(({ name }) => name === user);
  const who = user === undefined ? undefined : [...(await callersNamed(user, store.people)), ...tokens.map(tokenId)];
  const isWanted = (each: CallOutcome) =>
    (outcome === undefined || outcomeWords[each] === outcome) && !(failed && each === "ok");
  return { who, server, tool, door, execution, since, outcomes: callOutcomes.filter(isWanted) };
}

function whoseOf({ personName, person, token }: StoredCall): string {
  return personName ?? person ?? (token === null ? "" : `token ${token}`);
}

function byOf({ agent, startedBy, program }: StoredCall): string {
  const by = agent ?? starterTexts[startedBy];
  return program === null ? by : `${by}, ${program}`;
}

function approvalText(approval: string | null): string {
  if (approval === "once") return "approved";
  return approval === "session" || approval === "program" ? `approved${scopeText(approval)}` : (approval ?? "");
}
