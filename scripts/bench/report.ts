/** Measured rows, and their table for people. */
import { cpus, loadavg } from "node:os";
import { median, ratiosOf, spreadOf, type Times } from "./measure.ts";

/**
 * A figure beside ours, with the ratio of ours to it, or why it is missing. Extremes have no ratio, and neither do
 * widely scattered times, because it would differ with each run. `spread` is the precision of the ratio, as a share of
 * it. `how` is set if the figure was not measured although ours was.
 */
export type Other = { value: number; ratio?: number; spread?: number; how?: Row["how"] } | { none: string };

/** A ratio is printed if it is known within this share of itself. */
const ratioWithin = 0.12;

export type Unit =
  | "ms"
  | "µs"
  | "MB"
  | "KB"
  | "tokens"
  | "round trips"
  | "commands"
  | "questions"
  | "tasks"
  | "tools"
  | "executions"
  | "share";

export interface Row {
  what: string;
  /** The name in bench.json, if `what` is long or can change. */
  id?: string;
  unit: Unit;
  ours: number;
  /** The precision of our figure, as a share of it: see `spreadOf`. */
  spread?: number;
  /** Measured by default. */
  how?: "computed" | "estimated";
  /** By name: the SDK's raw client, another program, or a peer. */
  others: Record<string, Other>;
  target?: { text: string; met: boolean };
  /** The number of measurements: "20 rounds". */
  counted: string;
}

export interface Section {
  name: string;
  rows: Row[];
  /** Everything a reader must know to interpret the rows. */
  notes: string[];
}

export interface Machine {
  platform: string;
  cpus: number;
  bun: string;
  /** The load average of the minute before. */
  load: number;
}

export function thisMachine(): Machine {
  const platform = `${process.platform} ${process.arch}`;
  return { platform, cpus: cpus().length, bun: Bun.version, load: loadavg()[0]! };
}

type Beside = Record<string, Other>;

/** Medians of ours and of the others from the same rounds; the ratios are medians of the rounds' ratios. */
export function rowOf(what: string, { ours, ...others }: Times, missing: Beside = {}): Row {
  const beside = besideOf(others, (values) => {
    const ratios = ratiosOf(ours, values);
    const known = spread(ratios);
    const isScattered = known.spread !== undefined && known.spread > ratioWithin;
    return { value: median(values), ...(isScattered ? {} : { ratio: median(ratios) }), ...known };
  });
  const rounds = Math.min(...[ours, ...Object.values(others)].map(({ length }) => length));
  const counted = ours.length === rounds ? `${rounds} rounds` : `${ours.length} times in ${rounds} rounds`;
  return { what, unit: "ms", ours: median(ours), ...spread(ours), others: { ...beside, ...missing }, counted };
}

function spread(values: number[]): { spread?: number } {
  const share = spreadOf(values);
  return share === undefined ? {} : { spread: share };
}

/** One figure of all times, such as the maximum. */
export function rowOfAll(
  what: string,
  { ours, ...others }: Times,
  pick: (values: number[]) => number,
  missing: Beside = {},
): Row {
  const beside = besideOf(others, (values) => ({ value: pick(values) }));
  return { what, unit: "ms", ours: pick(ours), others: { ...beside, ...missing }, counted: `${ours.length} times` };
}

function besideOf(others: Record<string, number[]>, other: (values: number[]) => Other): Beside {
  return Object.fromEntries(Object.entries(others).map(([name, values]) => [name, other(values)]));
}

/** A target for the figure itself. */
export function under(row: Row, limit: number): Row {
  return { ...row, target: { text: `under ${limit} ${row.unit}`, met: row.ours < limit } };
}

/** A target for the ratio to another figure of the row. */
export function within(row: Row, name: string, limit: number): Row {
  const other = row.others[name];
  if (!other || "none" in other) throw new Error(`${row.what} has no ${name}`);
  const ratio = other.ratio ?? row.ours / other.value;
  return { ...row, target: { text: `within ${limit}x of ${name}`, met: ratio <= limit } };
}

/** A target for the difference to another figure of the row. */
export function atMostAbove(row: Row, name: string, limit: number): Row {
  const other = row.others[name];
  if (!other || "none" in other) throw new Error(`${row.what} has no ${name}`);
  const target = { text: `under ${limit} ${row.unit} above ${name}`, met: row.ours - other.value < limit };
  return { ...row, target };
}

/** The names of all other figures, in the order of the columns. */
const order = [
  "node -e 0",
  "bun -e 0",
  "the executable alone",
  "runtime alone",
  "first call",
  "no servers",
  "no catalog",
  "bare SDK server",
  "private",
  "p50",
  "one at a time",
  "least",
  "direct",
  "with a ledger",
  "tool search",
  "raw client",
  "SDK proxy, node",
  "SDK proxy, bun",
  "install.sh",
  "mcporter",
  "mcpc",
  "SDK, bun",
  "SDK, node",
  "node:vm",
  "deno",
  "@utcp/code-mode",
  "executor",
  "flexsearch",
  "minisearch",
];

/** One block per section: one line per row, then the notes. */
export function table(sections: Section[], machine: Machine): string {
  const few = machine.cpus <= 2 ? ": few, so servers, host and workers share them and parallel figures suffer" : "";
  const busy =
    machine.load > machine.cpus / 2 ? ": other work was running, which slows down figures with several processes" : "";
  const head = [
    `${machine.platform}, ${machine.cpus} CPUs${few}`,
    `Load average before: ${machine.load.toFixed(1)}${busy}`,
    'Values are medians of measured times unless a row says otherwise; the programs of a row run in turn. "(1.20x ±3 %)" is the median ratio of claudikins to that program, with its 95 % confidence interval (lower confidence below five rounds). "scattered" means the interval is wider than ±12 %, so no ratio is shown.',
  ];
  return `${[...head, ...sections.flatMap(blockOf)].join("\n")}\n`;
}

function blockOf({ name, rows, notes }: Section): string[] {
  const present = new Set(rows.flatMap(({ others }) => Object.keys(others)));
  const columns = order.filter((column) => present.has(column));
  const cells = [
    [name, "claudikins", ...columns, "target", "counted"],
    ...rows.map((row) => [
      `  ${row.what}`,
      figure(row.ours, row.unit),
      ...columns.map((column) => otherText(row.others[column], row.unit)),
      row.target ? `${row.target.text}: ${row.target.met ? "met" : "NOT met"}` : "",
      `${row.how ? `${row.how}, ` : ""}${row.counted}`,
    ]),
  ];
  const widths = cells[0]!.map((_, column) => Math.max(...cells.map((line) => line[column]!.length)));
  const last = widths.length - 2;
  const lines = cells.map((line) =>
    line
      .map((cell, column) =>
        column === 0 || column >= last ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!),
      )
      .join("  ")
      .trimEnd(),
  );
  return ["", ...lines, ...notes.map((note) => `  * ${note}`)];
}

/** Another figure, with the ratio if it is known. */
export function otherText(other: Other | undefined, unit: Unit): string {
  if (!other) return "";
  if ("none" in other) return other.none;
  const { value, ratio, spread, how } = other;
  const near = spread === undefined ? "" : ` ±${percent(spread)}`;
  const origin = how === undefined ? "" : ` ${how}`;
  if (ratio !== undefined) return `${figure(value, unit)}${origin} (${ratioText(ratio)}${near})`;
  return `${figure(value, unit)}${origin}${spread === undefined ? "" : ` (scattered,${near})`}`;
}

export const ratioText = (ratio: number) => `${ratio.toFixed(ratio < 0.01 ? 4 : 2)}x`;

/** A spread as a percentage. */
export const percent = (share: number) => `${(share * 100).toFixed(0)} %`;

export function figure(value: number, unit: Unit): string {
  if (unit === "share") return `${(value * 100).toFixed(1)} %`;
  if (unit !== "ms" && unit !== "µs" && unit !== "MB") {
    const count = Math.round(value);
    return `${count.toLocaleString("en")} ${count === 1 ? unit.replace(/s$/, "") : unit}`;
  }
  return `${value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)} ${unit}`;
}
