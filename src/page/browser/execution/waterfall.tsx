/** The calls of an execution as rows: each is a button with a bar on the time axis. */

/** @jsxImportSource preact */
import { grouped } from "../../../base/counted.ts";
import { durationText } from "../../../base/duration.ts";
import { axisMs, mostAtOnce, mostTelling, openCalls, ticks } from "../../../programs/trace/overlap.ts";
import type { ExecutionRecord, RecordedCall } from "../../../programs/trace/record.ts";
import { leftText, tookMs, toolOf } from "../../../programs/trace/record-text.ts";
import { Text } from "../text.tsx";

/** Calls of an execution that are shown as rows. */
const maxWaterfallRows = 500;

const colours = 6;

/** Which calls are shown, and where on the time axis. */
export interface Layout {
  /** The calls of the rows, with their places in the timeline. */
  shown: [place: number, call: RecordedCall][];
  left: readonly RecordedCall[];
  totalMs: number;
  /** The times on the axis. */
  times: number[];
  /** The rows of the calls in each line of code. */
  byLine: Map<number, number[]>;
}

export function layoutOf(record: ExecutionRecord): Layout {
  const totalMs = axisMs(record);
  const { shown, left } = mostTelling(record.timeline, maxWaterfallRows);
  const byLine = new Map<number, number[]>();
  for (const [row, [, { line }]] of shown.entries()) {
    if (line !== undefined) byLine.set(line, [...(byLine.get(line) ?? []), row]);
  }
  return { shown, left, totalMs, times: ticks(totalMs, 6), byLine };
}

/** CSS rules with the positions of the bars: the content security policy allows no styles of elements. */
export function rulesOf({ shown, totalMs, times }: Layout): string {
  const percent = (ms: number) => Math.round((ms / totalMs) * 1e5) / 1e3;
  const rules = [
    ...Array.from({ length: colours }, (_, colour) => `.colour${colour}{background-color:var(--c${colour})}`),
    ...shown.map(
      ([, { startMs, endMs }], row) => `#b${row}{left:${percent(startMs)}%;width:${percent(endMs - startMs)}%}`,
    ),
    ...times.map((ms, place) => `#t${place}{left:${percent(ms)}%}`),
    `.track{background-size:${percent(times[1] ?? totalMs)}% 100%}`,
  ];
  return rules.join("");
}

export function Waterfall({ record, layout }: { record: ExecutionRecord; layout: Layout }) {
  const { timeline, moreCalls } = record;
  const { shown, left, totalMs, times } = layout;
  const most = mostAtOnce(timeline);
  const servers = [...new Set(timeline.map(({ server }) => server))];
  return (
    <div class="waterfall">
      {servers.length > 1 && <Legend servers={servers} />}
      <div class="head" aria-hidden="true">
        <p class="most">{most > 1 && `up to ${grouped(most)} at once`}</p>
        <div class="ruler">
          <InFlight calls={timeline} totalMs={totalMs} most={Math.max(1, most)} />
          {times.map((ms, place) => (
            <span class="tick" id={`t${place}`} key={ms}>
              {durationText(ms)}
            </span>
          ))}
        </div>
      </div>
      <ol class="calls" id="calls" aria-label="Calls, in the order they were made">
        {shown.map(([place, call], row) => (
          <Row key={place} call={call} row={row} count={shown.length} colour={servers.indexOf(call.server) % colours} />
        ))}
      </ol>
      {leftText(left, moreCalls).map((text) => (
        <p class="left" key={text}>
          … {text}
        </p>
      ))}
    </div>
  );
}

function Legend({ servers }: { servers: string[] }) {
  return (
    <ul class="legend" aria-label="Servers">
      {servers.slice(0, 12).map((server, place) => (
        <li key={server}>
          <span class={`dot colour${place % colours}`} />
          <Text>{server}</Text>
        </li>
      ))}
    </ul>
  );
}

interface RowProps {
  call: RecordedCall;
  row: number;
  /** The number of rows. */
  count: number;
  colour: number;
}

function Row({ call, row, count, colour }: RowProps) {
  const { line, outcome } = call;
  return (
    <li>
      <button
        type="button"
        class={`call ${outcome}`}
        id={`c${row}`}
        data-row={row}
        data-line={line ?? ""}
        aria-label={`${row + 1} of ${count}: ${wordsOf(call)}`}
      >
        <Text in="span" class="name">
          {toolOf(call)}
        </Text>
        <span class="at">{line !== undefined && `:${line}`}</span>
        <span class="track">
          <span class={`bar colour${colour}`} id={`b${row}`} />
        </span>
        <span class="took">{durationText(tookMs(call))}</span>
      </button>
    </li>
  );
}

/** A call for screen readers. */
function wordsOf(call: RecordedCall): string {
  const { line, startMs, endMs, outcome, code, resultChars, waitedMs } = call;
  const result = {
    ok: `${grouped(resultChars)} characters`,
    failed: code === undefined ? "failed" : `failed (${code})`,
    cancelled: "cancelled",
  };
  const words = [
    toolOf(call),
    ...(line === undefined ? [] : [`line ${line}`]),
    result[outcome],
    `took ${durationText(tookMs(call))}`,
    ...(waitedMs ? [`after ${durationText(waitedMs)} of waiting for a person`] : []),
    `from ${durationText(startMs)} to ${durationText(endMs)}`,
  ];
  return words.join(", ");
}

const width = 600;
const height = 40;

/** How many calls were running at each time. */
function InFlight({ calls, totalMs, most }: { calls: readonly RecordedCall[]; totalMs: number; most: number }) {
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
  return (
    <svg
      class="flight"
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`Concurrent calls: up to ${most}`}
    >
      <path d={`M0 ${height}${path}V${height}Z`} />
    </svg>
  );
}
