/** The targets of the page, and its figures in words. */
import { grouped } from "../../../src/base/counted.ts";
import type { ConsoleFigures } from "./measure.ts";
import type { ScrollFigures, StartFigures } from "./page.ts";

/** Frames in the median second of each way to scroll. */
const leastFrames = 50;

/** The share of the time for which threads may wait for a core, so that frames and starts are judged by their times. */
const mostWaited = 0.1;

/** Milliseconds from the request of the page until it is useful: the median of several starts. */
const mostUsefulMs = 300;

/** Milliseconds of the slowest answer to a ping. */
const mostPingMs = 100;

/** Megabytes that the memory of the page may seem to grow in a minute: an hour of it is less than a list of executions. */
const mostGrowthMb = 0.1;

/** The cumulative layout shift of a start that nobody sees move. */
const mostShift = 0.01;

const medianOf = (numbers: readonly number[]) =>
  numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? 0;

/** The scrolls of the live activity, by what was scrolled. The worst second is that of all. */
function liveScrolls({ live }: ConsoleFigures): ScrollFigures[] {
  return [...Map.groupBy(live.scrolls, ({ name }) => name)].map(([name, some]) => ({
    name,
    median: medianOf(some.map(({ median }) => median)),
    worst: Math.min(...some.map(({ worst }) => worst)),
    longestTaskMs: Math.max(...some.map(({ longestTaskMs }) => longestTaskMs)),
    elements: Math.max(...some.map(({ elements }) => elements)),
    worked: medianOf(some.map(({ worked }) => worked)),
    waited: medianOf(some.map(({ waited }) => waited)),
  }));
}

/** The time of a start, or the work for it if other programs used the cores. */
const judgedMs = ({ usefulMs, workedMs, waitedMs }: StartFigures) =>
  waitedMs > mostWaited * usefulMs ? workedMs : usefulMs;

/** Whether the page would have had the time to draw more frames. Otherwise other programs used the cores. */
const isJudged = ({ waited }: ScrollFigures) => waited <= mostWaited;

/** The missed targets, in words. */
export function problemsOf(figures: ConsoleFigures): string[] {
  const { start, looks, answers, live, pings, said } = figures;
  const usefulMs = medianOf(start.map(judgedMs));
  const slow = [...figures.scrolls, ...liveScrolls(figures)].filter(
    (each) => each.median < leastFrames && isJudged(each),
  );
  const late = [
    ...answers.map(({ name, pingMs }) => [`the daemon during ${name}`, pingMs] as const),
    ["the daemon", pings.daemon.slowestMs] as const,
    ["serve", pings.serve.slowestMs] as const,
  ].filter(([, ms]) => ms > mostPingMs);
  return [
    ...(usefulMs > mostUsefulMs ? [`the page was useful after ${Math.round(usefulMs)} ms`] : []),
    ...(looks.looks.length > 0 ? [`the page showed other texts first: ${looks.looks.join(", ")}`] : []),
    ...(looks.shift > mostShift ? [`the page moved at its start: ${looks.shift.toFixed(3)}`] : []),
    ...slow.map(({ name, median }) => `${name}: ${median} frames a second`),
    ...late.map(([name, ms]) => `${name} answered a ping after ${Math.round(ms)} ms`),
    ...(live.growthMb > mostGrowthMb ? [`the page grew by ${live.growthMb.toFixed(2)} MB a minute`] : []),
    ...live.failed.slice(0, 3).map((text) => `an execution failed: ${text}`),
    ...(said.length > 0 ? [`the page said: ${[...new Set(said)].slice(0, 3).join("; ")}`] : []),
  ];
}

export function linesOf(figures: ConsoleFigures): string[] {
  const { load, start, looks, scrolls, answers, live, pings } = figures;
  const [first, last] = [live.memory[0], live.memory.at(-1)];
  const ms = (value: number) => `${Math.round(value)} ms`;
  const percent = (share: number) => `${Math.round(share * 100)} %`;
  const scroll = ({ name, median, worst, longestTaskMs, elements, worked, waited }: ScrollFigures) =>
    `  ${name}: ${median} frames in the median second, ${worst} in the worst; longest task ${ms(longestTaskMs)}, ${grouped(elements)} elements, its thread worked ${percent(worked)} of the time, and waited for a core ${percent(waited)}`;
  const memory = (each: typeof first) =>
    each && `${each.heapMb.toFixed(2)} MB, ${grouped(each.nodes)} nodes, ${grouped(each.listeners)} listeners`;
  const ping = (name: string, { count, slowestMs, slowestWithWaitMs }: typeof pings.daemon) =>
    `  ${name}: ${grouped(count)} pings, the slowest ${ms(slowestMs)}, with the time without a core ${ms(slowestWithWaitMs)}`;
  return [
    `load: ${Object.entries(load)
      .map(([part, each]) => `${each.toFixed(1)} after ${part}`)
      .join(", ")}`,
    `start: useful after ${start.map(({ usefulMs, workedMs }) => `${ms(usefulMs)} (${Math.round(workedMs)} of work)`).join(", ")}; first paint ${ms(medianOf(start.map(({ firstPaintMs }) => firstPaintMs)))}; ${looks.looks.length} other looks before; moved by ${looks.shift.toFixed(3)}`,
    "scroll:",
    ...[...scrolls, ...liveScrolls(figures)].map(scroll),
    "answers of the page's server:",
    ...answers.map(
      ({ name, median, slowest, bytes, pingMs }) =>
        `  ${name}: ${median.toFixed(1)} ms, the slowest ${ms(slowest)}, ${grouped(bytes)} bytes; a ping meanwhile at most ${ms(pingMs)}`,
    ),
    `live: ${live.minutes} minutes, ${grouped(live.executions)} executions (${(live.executions / live.minutes / 60).toFixed(1)} a second)`,
    `  memory at the begin: ${memory(first)}`,
    `  memory at the end: ${memory(last)}`,
    `  growth: ${live.growthMb.toFixed(3)} MB a minute`,
    "pings while agents work:",
    ping("daemon", pings.daemon),
    ping("serve", pings.serve),
  ];
}
