/** The screen over time as a small number of parts: an unchanged line is one part, however many frames show it. */
import type { Recording } from "./recording.ts";
import { type Row, textOf } from "./rows.ts";

/** Lines that appear and disappear together. */
export interface Layer {
  fromMs: number;
  /** Undefined if they stay. */
  toMs: number | undefined;
  rows: { line: number; row: Row }[];
}

export function layersOf({ frames }: Pick<Recording, "frames">): Layer[] {
  const layers = new Map<string, Layer>();
  const add = (line: number, { row, fromMs }: Standing, toMs?: number) => {
    if (isEmpty(row)) return;
    const key = `${fromMs}-${toMs}`;
    const layer = layers.get(key) ?? { fromMs, toMs, rows: [] };
    layers.set(key, layer);
    layer.rows.push({ line, row });
  };
  const standing: Standing[] = [];
  for (const { atMs, lines } of frames) {
    for (let line = 0; line < Math.max(lines.length, standing.length); line += 1) {
      const row = lines[line] ?? { runs: [], grounds: [] };
      const before = standing[line];
      if (before && Bun.deepEquals(before.row, row)) continue;
      if (before) add(line, before, atMs);
      standing[line] = { row, fromMs: atMs };
    }
  }
  for (const [line, each] of standing.entries()) add(line, each);
  return [...layers.values()].sort((a, b) => a.fromMs - b.fromMs || (a.toMs ?? Infinity) - (b.toMs ?? Infinity));
}

interface Standing {
  row: Row;
  fromMs: number;
}

const isEmpty = ({ runs, grounds }: Row) => runs.length === 0 && grounds.length === 0;

/** The number of lines that scrolled away, and since when. */
export function scrollsOf({ frames }: Pick<Recording, "frames">): { atMs: number; top: number }[] {
  return frames
    .filter(({ top }, place) => top !== (frames[place - 1]?.top ?? 0))
    .map(({ atMs, top }) => ({ atMs, top }));
}

/** The whole session as text, in its final state. */
export function transcriptOf({ frames }: Pick<Recording, "frames">): string {
  return (frames.at(-1)?.lines ?? []).map((row) => `${textOf(row)}\n`).join("");
}
