/** Computes which calls ran concurrently, and which of many to show. */
import type { ExecutionRecord, RecordedCall } from "./record.ts";

export interface OpenCallCount {
  atMs: number;
  /** Number of running calls from then on. */
  open: number;
}

/** The number of running calls at each time that it changed, in order. */
export function openCalls(calls: readonly RecordedCall[]): OpenCallCount[] {
  const changes = new Map<number, number>();
  const add = (atMs: number, by: number) => changes.set(atMs, (changes.get(atMs) ?? 0) + by);
  for (const { startMs, endMs } of calls) {
    add(startMs, 1);
    add(Math.max(endMs, startMs), -1);
  }
  let open = 0;
  return [...changes]
    .sort(([a], [b]) => a - b)
    .map(([atMs, by]) => {
      open += by;
      return { atMs, open };
    });
}

/** The maximum number of concurrent calls. A call that ends when the next begins is not concurrent with it. */
export function mostAtOnce(calls: readonly RecordedCall[]): number {
  const most = openCalls(calls).reduce((known, { open }) => Math.max(known, open), 0);
  return Math.max(most, calls.length > 0 ? 1 : 0);
}

/** Chooses at most `count` calls, in their order: failed calls first, then the longest. `left` has the others. */
export function mostTelling(
  calls: readonly RecordedCall[],
  count: number,
): { shown: [place: number, call: RecordedCall][]; left: RecordedCall[] } {
  const all = calls.map((call, place): [number, RecordedCall] => [place, call]);
  const weight = ({ outcome, startMs, endMs }: RecordedCall) =>
    endMs - startMs + (outcome === "ok" ? 0 : Number.MAX_SAFE_INTEGER / 2);
  const chosen = new Set(
    all
      .toSorted(([a, one], [b, other]) => weight(other) - weight(one) || a - b)
      .slice(0, count)
      .map(([place]) => place),
  );
  return {
    shown: all.filter(([place]) => chosen.has(place)),
    left: all.flatMap(([place, call]) => (chosen.has(place) ? [] : [call])),
  };
}

/** The length of the time axis in milliseconds, which is never 0. A call may end after the code. */
export function axisMs({ durationMs, timeline }: Pick<ExecutionRecord, "durationMs" | "timeline">): number {
  return timeline.reduce((last, { endMs }) => Math.max(last, endMs), Math.max(durationMs, 0.1));
}

/** About `about` round numbers of milliseconds up to the total. */
export function ticks(totalMs: number, about: number): number[] {
  if (!(totalMs > 0)) return [0];
  const rough = totalMs / Math.max(1, about);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough * 0.999) ?? 10 * power;
  const count = Math.floor(totalMs / step + 1e-9);
  return Array.from({ length: count + 1 }, (_, place) => Math.round(place * step * 1_000) / 1_000);
}
