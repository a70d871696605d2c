/** What was measured, as rows, and the rows as a table for people. */
import { cpus, loadavg } from "node:os";
import { median, ratioOf, type Times } from "./measure.ts";

/** What stands beside ours: a figure with ours divided by it, or why there is none. */
export type Other = { value: number; ratio: number } | { none: string };

export interface Row {
  what: string;
  unit: "ms" | "MB" | "tokens";
  ours: number;
  /** By name: the raw client of the SDK, another program, a peer. */
  others: Record<string, Other>;
  target?: { text: string; met: boolean };
  /** How often: "20 rounds". */
  counted: string;
}

export interface Section {
  name: string;
  rows: Row[];
  /** What has to be known to read the rows rightly. */
  notes: string[];
}

export interface Machine {
  platform: string;
  cpus: number;
  cpu: string;
  /** The load average of the last minute before. */
  load: number;
}

export function thisMachine(): Machine {
  const all = cpus();
  const platform = `${process.platform} ${process.arch}`;
  return { platform, cpus: all.length, cpu: all[0]?.model ?? "unknown", load: loadavg()[0]! };
}

type Beside = Record<string, Other>;

/** Ours and the others of the same rounds, as medians; the ratios are medians of the rounds' ratios. */
export function rowOf(what: string, { ours, ...others }: Times, missing: Beside = {}): Row {
  const ratios = besideOf(others, (values) => ({ value: median(values), ratio: ratioOf(ours, values) }));
  return { what, unit: "ms", ours: median(ours), others: { ...ratios, ...missing }, counted: `${ours.length} rounds` };
}

/** One figure of all the times, such as the highest; the ratios are of these figures. */
export function rowOfAll(
  what: string,
  { ours, ...others }: Times,
  pick: (values: number[]) => number,
  missing: Beside = {},
): Row {
  const ratios = besideOf(others, (values) => ({ value: pick(values), ratio: pick(ours) / pick(values) }));
  return { what, unit: "ms", ours: pick(ours), others: { ...ratios, ...missing }, counted: `${ours.length} times` };
}

function besideOf(others: Record<string, number[]>, other: (values: number[]) => Other): Beside {
  return Object.fromEntries(Object.entries(others).map(([name, values]) => [name, other(values)]));
}

/** A target that is a figure of its own. */
export function under(row: Row, limit: number): Row {
  return { ...row, target: { text: `under ${limit} ${row.unit}`, met: row.ours < limit } };
}

/** A target that is a ratio to one of the others of the row. */
export function within(row: Row, name: string, limit: number): Row {
  const other = row.others[name];
  if (!other || "none" in other) throw new Error(`${row.what} has no ${name}`);
  return { ...row, target: { text: `within ${limit}x of ${name}`, met: other.ratio <= limit } };
}

/** A target that is a difference to one of the others of the row. */
export function atMostAbove(row: Row, name: string, limit: number): Row {
  const other = row.others[name];
  if (!other || "none" in other) throw new Error(`${row.what} has no ${name}`);
  const target = { text: `under ${limit} ${row.unit} above ${name}`, met: row.ours - other.value < limit };
  return { ...row, target };
}

/** A target that is a share of the throughput of one of the others of the row, which did the same. */
export function atLeast(row: Row, name: string, share: number): Row {
  const bounded = within(row, name, 1 / share);
  return { ...bounded, target: { ...bounded.target!, text: `at least ${share}x the throughput of ${name}` } };
}

/** All that ever stands beside ours, in the order of the columns. */
const order = [
  "node -e 0",
  "bun -e 0",
  "runtime alone",
  "first call",
  "no servers",
  "bare SDK server",
  "direct",
  "raw client",
  "mcporter",
  "SDK, bun",
  "SDK, node",
  "node:vm",
  "deno",
  "flexsearch",
  "minisearch",
];

/** A block a section: a line a row, and the notes under it. */
export function table(sections: Section[], machine: Machine): string {
  const few =
    machine.cpus <= 2 ? ": few, so that servers, host and workers take turns and parallel figures suffer" : "";
  const busy =
    machine.load > machine.cpus / 2 ? ": others were at work, which costs most where processes take turns" : "";
  const head = [
    `${machine.platform}, ${machine.cpus} CPUs${few}`,
    `Load average before: ${machine.load.toFixed(1)}${busy}`,
    "Medians where nothing else is said; all of a row measured in turn; (1.20x): ours divided by that one, the median of the rounds' ratios.",
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
      row.counted,
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

function otherText(other: Other | undefined, unit: Row["unit"]): string {
  if (!other) return "";
  return "none" in other
    ? other.none
    : `${figure(other.value, unit)} (${other.ratio.toFixed(other.ratio < 0.01 ? 4 : 2)}x)`;
}

function figure(value: number, unit: Row["unit"]): string {
  if (unit === "tokens") return `${value.toLocaleString("en")} tokens`;
  return `${value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)} ${unit}`;
}
