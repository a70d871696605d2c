/** An execution as text: its facts, and one line per call with a bar over time. */

import { counted, grouped } from "../../base/counted.ts";
import { durationText } from "../../base/duration.ts";
import { oneLine } from "../../base/visible-text.ts";
import { notableChars } from "../../programs/limits.ts";
import { keptOut } from "../../programs/outcome-text.ts";
import { axisMs, mostTelling, ticks } from "../../programs/trace/overlap.ts";
import type { ExecutionRecord, RecordedCall } from "../../programs/trace/record.ts";
import {
  callsText,
  configText,
  failureOf,
  leftText,
  outcomeWord,
  protocolsText,
  timeText,
  tookMs,
  toolOf,
} from "../../programs/trace/record-text.ts";
import { type Canvas, eighthBlocks } from "../terminal/layout.ts";
import { bold, cyan, dim, red } from "../terminal/terminal-output.ts";

/** Minimum width of the bars of an execution's calls. */
const minWaterfallChars = 10;

/** Maximum width of these bars. */
const maxWaterfallChars = 100;

/** Minimum width of the names of calls. Names are shortened before bars. */
const minCallNameChars = 12;

/** Characters of a message or a name in it. */
const maxWaterfallTextChars = 500;

export function waterfallText(record: ExecutionRecord, canvas: Canvas, most: number): string {
  const { shown, left } = mostTelling(record.timeline, most);
  const rows = shown.map(([, call]) => call);
  const lines = [
    ...head(record),
    ...(rows.length > 0 ? ["", ...waterfall(rows, axisMs(record), canvas)] : []),
    ...leftText(left, record.moreCalls).map((text) => dim(`… ${text}`)),
    ...failure(record),
  ];
  return lines.map((line) => `${line.trimEnd()}\n`).join("");
}

function head(record: ExecutionRecord): string[] {
  const { id, startedBy, ok, durationMs, beforeMs, config, door, at, code, logs, repeats } = record;
  const outcome = ok ? bold(outcomeWord(record)) : red(outcomeWord(record));
  const kept = keptOut(record);
  const protocols = oneLine(protocolsText(record), maxWaterfallTextChars);
  const before = beforeMs >= 100 ? ` (after ${durationText(beforeMs)} of fetching tools)` : "";
  const facts = [
    `${configText(config)}${door === undefined ? "" : `, door ${oneLine(door, maxWaterfallTextChars)}`}`,
    timeText(at),
    `${counted(code.lines, "line")} of code`,
    ...(logs.lines > 0 ? [`${grouped(logs.lines)} of logs`] : []),
    ...(kept >= notableChars ? [`${grouped(kept)} characters kept out`] : []),
  ];
  return [
    `${bold(id)}  ${startedBy} · ${outcome} · ${durationText(durationMs)}${before} · ${callsText(record)}`,
    dim(facts.join(" · ")),
    ...(protocols === "" ? [] : [dim(protocols)]),
    ...(repeats === undefined ? [] : [dim(`run again from ${repeats}`)]),
  ];
}

function failure(record: ExecutionRecord): string[] {
  const { error } = record;
  if (!error) return [];
  const { line } = error;
  return [
    "",
    red(`${oneLine(failureOf(record), maxWaterfallTextChars)}${line === undefined ? "" : ` (line ${line})`}`),
  ];
}

function waterfall(calls: RecordedCall[], total: number, { columns = 80, isTerminal }: Canvas): string[] {
  const rows = calls.map((call) => ({
    call,
    name: oneLine(toolOf(call), maxWaterfallTextChars),
    line: lineOf(call),
    text: textOf(call),
  }));
  const widest = (pick: (row: (typeof rows)[number]) => string) =>
    Math.max(...rows.map((row) => Bun.stringWidth(pick(row))));
  const [lines, texts] = [widest(({ line }) => line), widest(({ text }) => text)];
  const left = columns - lines - texts - 6;
  const wanted = Math.min(
    widest(({ name }) => name),
    left - minWaterfallChars,
    Math.floor(left / 2),
  );
  const names = Math.max(minCallNameChars, wanted);
  const room = Math.max(minWaterfallChars, Math.min(maxWaterfallChars, left - names));
  const shown = rows.map(({ call, name, line, text }) => {
    const bar = barOf(call, total, room, isTerminal);
    const isOk = call.outcome === "ok";
    const space = " ".repeat(Math.max(0, room - Bun.stringWidth(bar)));
    const end = isOk ? dim(text) : red(text);
    return `${fitted(name, names)}  ${dim(line.padStart(lines))}  ${isOk ? cyan(bar) : red(bar)}${space}  ${end}`;
  });
  return [dim(`${" ".repeat(names + lines + 4)}${axis(total, room)}`), ...shown];
}

const lineOf = ({ line }: RecordedCall) => (line === undefined ? "" : `:${line}`);

function textOf(call: RecordedCall): string {
  const { outcome, code, resultChars, notMade, waitedMs = 0 } = call;
  if (notMade) return "not made";
  const waited = waitedMs > 0 ? ` and ${durationText(waitedMs)} of waiting for a person` : "";
  const time = `${durationText(tookMs(call))}${waited}`;
  if (outcome === "ok") return `${time}, ${grouped(resultChars)} chars`;
  return `${time}, ${outcome === "failed" ? (code ?? "failed") : "cancelled"}`;
}

/** Returns the bar with the space before it. Every bar has at least one eighth of a character. */
export function barOf(
  { startMs, endMs, outcome }: Pick<RecordedCall, "startMs" | "endMs" | "outcome">,
  totalMs: number,
  room: number,
  isTerminal: boolean,
): string {
  const eighths = (ms: number) => Math.round((ms / totalMs) * room * 8);
  const from = Math.min(eighths(startMs), room * 8 - 1);
  const to = Math.min(Math.max(eighths(endMs), from + 1), room * 8);
  const first = Math.floor(from / 8);
  if (!isTerminal || outcome === "cancelled") {
    const letter = outcome === "ok" ? "#" : outcome === "failed" ? "x" : isTerminal ? "░" : "-";
    return " ".repeat(first) + letter.repeat(Math.max(1, Math.ceil(to / 8) - first));
  }
  // Blocks begin at the left: a bar that begins within a character has its first half or none of it.
  const startsLate = from % 8 >= 4;
  const last = Math.floor(to / 8);
  if (last === first) return " ".repeat(first) + (startsLate ? "▐" : (eighthBlocks[Math.max(1, to % 8)] ?? ""));
  return " ".repeat(first) + (startsLate ? "▐" : "█") + "█".repeat(last - first - 1) + (eighthBlocks[to % 8] ?? "");
}

/** Places each number at its time, and the unit after the last one. */
function axis(totalMs: number, room: number): string {
  const inSeconds = totalMs >= 10_000;
  let line = "";
  const all = ticks(totalMs, Math.floor(room / 14));
  for (const [place, ms] of all.entries()) {
    const isLast = place === all.length - 1;
    const text = `${grouped(inSeconds ? ms / 1_000 : ms)}${isLast ? (inSeconds ? " s" : " ms") : ""}`;
    const at = Math.round((ms / totalMs) * room);
    const from = isLast ? Math.min(at, room - text.length) : at;
    if (from >= line.length + (place > 0 ? 1 : 0)) line = line.padEnd(from) + text;
  }
  return line;
}

function fitted(text: string, width: number): string {
  if (Bun.stringWidth(text) <= width) return text + " ".repeat(width - Bun.stringWidth(text));
  const letters = [...text];
  while (Bun.stringWidth(letters.join("")) > width - 1) letters.shift();
  return `…${letters.join("")}`.padEnd(width);
}
