/** Two texts as `diff -u` shows them. */
import { cyan, dim, green, paint, red } from "./colours.ts";

/** Lines around a change. */
const context = 3;

/** Empty when there is no difference. Line breaks that differ are shown as such. */
export function unifiedDiff(name: string, from: string, to: string, colours = false): string {
  const [old, now] = [linesOf(from), linesOf(to)];
  const edits = editsOf(old, now);
  const hunks = hunksOf(edits);
  if (hunks.length === 0) return "";
  const head = [paint(`--- ${name}`, dim, colours), paint(`+++ ${name}`, dim, colours)];
  const body = hunks.flatMap((hunk) => {
    const count = (sign: string) => hunk.filter((edit) => edit.sign === " " || edit.sign === sign).length;
    const [first] = hunk;
    const range = (start: number, lines: number) => `${lines === 0 ? start : start + 1},${lines}`;
    const place = `@@ -${range(first!.old, count("-"))} +${range(first!.now, count("+"))} @@`;
    return [paint(place, cyan, colours), ...hunk.map((edit) => lineText(edit, colours))];
  });
  return `${[...head, ...body].join("\n")}\n`;
}

interface Edit {
  sign: " " | "-" | "+";
  line: string;
  /** Places of the line, or of where it would be. */
  old: number;
  now: number;
}

function lineText({ sign, line }: Edit, colours: boolean): string {
  const text = `${sign}${line.replace(/\r?\n$/, "")}${line.endsWith("\n") ? "" : "\n\\ No newline at end of file"}`;
  return sign === " " ? text : paint(text, sign === "-" ? red : green, colours);
}

function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function hunksOf(edits: Edit[]): Edit[][] {
  const hunks: Edit[][] = [];
  let end = 0;
  for (const [place, { sign }] of edits.entries()) {
    if (sign === " ") continue;
    const from = Math.max(place - context, end);
    const to = place + context + 1;
    if (from > end || hunks.length === 0) hunks.push([]);
    hunks.at(-1)!.push(...edits.slice(from, to));
    end = Math.max(to, end);
  }
  return hunks;
}

/** The shortest way from one to the other, by Myers: quick where the texts are nearly the same. */
function editsOf(old: string[], now: string[]): Edit[] {
  const most = old.length + now.length;
  let furthest = new Map<number, number>([[1, 0]]);
  const trace: Map<number, number>[] = [];
  for (let distance = 0; distance <= most; distance++) {
    trace.push(new Map(furthest));
    for (let diagonal = -distance; diagonal <= distance; diagonal += 2) {
      let x = goesDown(furthest, diagonal, distance)
        ? (furthest.get(diagonal + 1) ?? 0)
        : (furthest.get(diagonal - 1) ?? 0) + 1;
      while (x < old.length && x - diagonal < now.length && old[x] === now[x - diagonal]) x += 1;
      furthest.set(diagonal, x);
      if (x >= old.length && x - diagonal >= now.length) return wayBack(trace, old, now);
    }
    furthest = new Map(furthest);
  }
  return [];
}

function goesDown(furthest: Map<number, number>, diagonal: number, distance: number): boolean {
  if (diagonal === -distance) return true;
  return diagonal !== distance && (furthest.get(diagonal - 1) ?? 0) < (furthest.get(diagonal + 1) ?? 0);
}

function wayBack(trace: Map<number, number>[], old: string[], now: string[]): Edit[] {
  const edits: Edit[] = [];
  let [x, y] = [old.length, now.length];
  for (let distance = trace.length - 1; distance >= 0; distance--) {
    const furthest = trace[distance]!;
    const diagonal = x - y;
    const before = goesDown(furthest, diagonal, distance) ? diagonal + 1 : diagonal - 1;
    const previousX = distance === 0 ? 0 : (furthest.get(before) ?? 0);
    const previousY = distance === 0 ? 0 : previousX - before;
    while (x > previousX && y > previousY) {
      x -= 1;
      y -= 1;
      edits.push({ sign: " ", line: old[x] ?? "", old: x, now: y });
    }
    if (distance === 0) break;
    if (x > previousX) {
      x -= 1;
      edits.push({ sign: "-", line: old[x] ?? "", old: x, now: y });
    } else {
      y -= 1;
      edits.push({ sign: "+", line: now[y] ?? "", old: x, now: y });
    }
  }
  return edits.reverse();
}
