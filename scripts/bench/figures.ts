/** bench.json: every figure of a run with its origin, and nothing about the machine except its kind. */
import type { Machine, Other, Row, Section, Unit } from "./report.ts";

export interface Figure {
  /** The section, and the name within it: `tasks.all-tokens-in-the-context`. */
  id: string;
  what: string;
  value: number;
  unit: Unit;
  how: "measured" | "computed" | "estimated";
  runs: string;
  /** The precision of the value, as a share of it; null for a single value or an extreme. */
  spread: number | null;
  target?: { text: string; met: boolean };
  peers: Record<string, Other & { version?: string }>;
}

export interface Results {
  /** Unique for each run; figures in the pages carry it. */
  run: string;
  date: string;
  command: string;
  machine: Machine;
  /** The version of each peer, or why it is missing. */
  peers: Record<string, { version: string } | { missing: string }>;
  sections: { name: string; figures: Figure[]; notes: string[] }[];
}

export type Versions = Results["peers"];

/** Throws if a figure is not a number, or if two rows have the same name. */
export function figuresOf(sections: Section[], versions: Versions): Results["sections"] {
  const ids = new Set<string>();
  return sections.map(({ name, rows, notes }) => ({
    name,
    figures: rows.map((row) => {
      const figure = figureOf(name, row, versions);
      if (ids.has(figure.id)) throw new Error(`two figures are called ${figure.id}`);
      ids.add(figure.id);
      return figure;
    }),
    notes,
  }));
}

function figureOf(section: string, row: Row, versions: Versions): Figure {
  const id = `${section}.${slug(row.id ?? row.what)}`;
  const number = (value: number, what: string) => {
    if (!Number.isFinite(value)) throw new Error(`${id} was not measured: ${what} is ${value}`);
  };
  number(row.ours, "the value");
  const peers = Object.entries(row.others).map(([name, other]) => {
    if ("value" in other) number(other.value, name);
    if ("ratio" in other && other.ratio !== undefined) number(other.ratio, `the ratio to ${name}`);
    const found = versions[name];
    return [name, { ...other, ...(found && "version" in found ? { version: found.version } : {}) }];
  });
  return {
    id,
    what: row.what,
    value: row.ours,
    unit: row.unit,
    how: row.how ?? "measured",
    runs: row.counted,
    spread: row.spread ?? null,
    ...(row.target ? { target: row.target } : {}),
    peers: Object.fromEntries(peers),
  };
}

const slug = (text: string) =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "");
