/** The calls as rows: each is a button with a bar on the time axis. */

import { grouped } from "../../base/counted.ts";
import { durationText } from "../../base/duration.ts";
import { parsedJson } from "../../base/json-object.ts";
import { mostAtOnce, mostTelling, openCalls, ticks } from "../../programs/trace/overlap.ts";
import type { ExecutionRecord, RecordedCall } from "../../programs/trace/record.ts";
import { leftText, tookMs, toolOf } from "../../programs/trace/record-text.ts";
import { type Html, html } from "./html.ts";

/** Maximum number of rows. */
const maxRows = 500;

const colours = 6;

interface Waterfall {
  rows: Html;
  /** CSS rules with the positions of the bars. */
  rules: string;
  /** What the script shows about the calls, by row. */
  data: object[];
  /** The rows of the calls in each line of code. */
  byLine: Map<number, number[]>;
}

export function waterfallOf(record: ExecutionRecord): Waterfall {
  const { timeline, durationMs, moreCalls } = record;
  const total = Math.max(
    durationMs,
    timeline.reduce((last, { endMs }) => Math.max(last, endMs), 0),
    0.1,
  );
  const { shown, left } = mostTelling(timeline, maxRows);
  const servers = [...new Set(timeline.map(({ server }) => server))];
  const colourOf = ({ server }: RecordedCall) => servers.indexOf(server) % colours;
  const byLine = new Map<number, number[]>();
  for (const [row, [, { line }]] of shown.entries()) {
    if (line !== undefined) byLine.set(line, [...(byLine.get(line) ?? []), row]);
  }
  const marks = ticks(total, 6);
  const most = mostAtOnce(timeline);
  const percent = (ms: number) => Math.round((ms / total) * 1e5) / 1e3;
  const rules = [
    ...Array.from({ length: colours }, (_, colour) => `.colour${colour}{background-color:var(--c${colour})}`),
    ...shown.map(
      ([, { startMs, endMs }], row) => `#b${row}{left:${percent(startMs)}%;width:${percent(endMs - startMs)}%}`,
    ),
    ...marks.map((ms, place) => `#t${place}{left:${percent(ms)}%}`),
    `.track{background-size:${percent(marks[1] ?? total)}% 100%}`,
  ];
  const rows = html`<div class="waterfall">
${legend(servers)}
<div class="head" aria-hidden="true"><p class="most">${most > 1 ? `up to ${grouped(most)} at once` : undefined}</p><div class="ruler">${inFlightChart(timeline, total, Math.max(1, most))}
${marks.map((ms, place) => html`<span class="tick" id="t${place}">${durationText(ms)}</span>`)}</div></div>
<ol class="calls" id="calls" aria-label="Calls, in the order they were made">
${shown.map(([, call], row) => rowOf(call, row, shown.length, colourOf(call)))}</ol>
${leftText(left, moreCalls).map((text) => html`<p class="left">… ${text}</p>`)}
</div>`;
  return { rows, rules: rules.join(""), data: shown.map(([place, call]) => dataOf(call, place)), byLine };
}

function rowOf(call: RecordedCall, row: number, count: number, colour: number): Html {
  const { line, startMs, endMs, outcome, code, resultChars } = call;
  const name = toolOf(call);
  const took = durationText(tookMs(call));
  const result =
    outcome === "ok"
      ? `${grouped(resultChars)} characters`
      : outcome === "failed"
        ? `failed${code === undefined ? "" : ` (${code})`}`
        : "cancelled";
  const words = [
    `${row + 1} of ${count}: ${name}`,
    ...(line === undefined ? [] : [`line ${line}`]),
    result,
    `took ${took}`,
    ...(call.waitedMs ? [`after ${durationText(call.waitedMs)} of waiting for a person`] : []),
    `from ${durationText(startMs)} to ${durationText(endMs)}`,
  ];
  return html`<li><button type="button" class="call ${outcome}" id="c${row}" data-row="${row}" data-line="${line ?? ""}" aria-label="${words.join(", ")}"><span class="name"><bdi>${name}</bdi></span><span class="at">${line === undefined ? "" : `:${line}`}</span><span class="track"><span class="bar colour${colour}" id="b${row}"></span></span><span class="took">${took}</span></button></li>
`;
}

function legend(servers: string[]): Html {
  if (servers.length < 2) return html``;
  return html`<ul class="legend" aria-label="Servers">${servers.slice(0, 12).map((server, place) => html`<li><span class="dot colour${place % colours}"></span><bdi>${server}</bdi></li>`)}</ul>`;
}

function dataOf(call: RecordedCall, place: number): object {
  const { line, startMs, endMs, outcome, argumentChars, resultChars, code, message } = call;
  return {
    name: toolOf(call),
    outcome,
    facts: [
      ["Call", `${grouped(place + 1)}`],
      ...(line === undefined ? [] : [["Line", String(line)]]),
      ["Took", durationText(tookMs(call))],
      ...(call.waitedMs ? [["Waited for a person", durationText(call.waitedMs)]] : []),
      ["From", durationText(startMs)],
      ["To", durationText(endMs)],
      ["Arguments", `${grouped(argumentChars)} characters`],
      ...(outcome === "ok" ? [["Result", `${grouped(resultChars)} characters`]] : []),
      ...(code === undefined ? [] : [["Error", code]]),
    ],
    texts: [
      ...(message === undefined ? [] : [{ title: "Error", text: message, isWhole: true }]),
      ...(call.arguments ? [{ title: "Arguments", ...indented(call.arguments) }] : []),
      ...(call.result ? [{ title: "Result", ...indented(call.result) }] : []),
    ],
  };
}

/** JSON is shown over several lines. */
export function indented<T extends { text: string; isWhole: boolean }>(excerpt: T): T {
  const value = excerpt.isWhole ? parsedJson(excerpt.text) : undefined;
  return value === undefined ? excerpt : { ...excerpt, text: JSON.stringify(value, null, 2) };
}

const width = 600;
const height = 40;

function inFlightChart(calls: readonly RecordedCall[], totalMs: number, most: number): Html {
  const columns = new Array<number>(width).fill(0);
  let [open, from] = [0, 0];
  for (const step of [...openCalls(calls), { atMs: totalMs, open: 0 }]) {
    const to = Math.min(width, Math.ceil((step.atMs / totalMs) * width));
    for (let column = Math.floor(from); column < to; column++) columns[column] = Math.max(columns[column]!, open);
    [open, from] = [step.open, (step.atMs / totalMs) * width];
  }
  const top = (count: number) => Math.round((1 - count / most) * height * 10) / 10;
  const path = columns
    .map((count, column) => (count === columns[column + 1] ? "" : `V${top(count)}H${column + 1}`))
    .join("");
  return html`<svg class="flight" viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" role="img" aria-label="Concurrent calls: up to ${most}"><path d="M0 ${height}${path}V${height}Z"/></svg>`;
}
